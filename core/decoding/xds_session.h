// XDS sessions: the MAT-files (version 5 or 7.3) in which Miller's laboratory publishes recordings of motor cortex, one
// struct `xds` in each (limblab/xds; Ma et al., eLife 2023, e84296).
//
// Needed are bin_width (seconds), time_frame (bins, 1) and spike_counts (bins, channels) or, where that is missing,
// spikes (a cell of spike times for each channel), and of the trials trial_result ('R' for rewarded),
// trial_start_time, trial_end_time and trial_target_dir (degrees). Where they are given and not empty, EMG (bins,
// muscles) with EMG_names, force, curs_p and curs_v become outputs in this order ("EMG_FCR", "force_x", "curs_v_y"),
// unit_names the channels' names, and trial_gocue_time the trials' go cues, which no window depends on. Everything else
// is left alone. docs/science.md has the same for who writes such a file.
//
// EMG is muscle_outputs of the outputs, as it is in the file: the laboratory's own conversion has rectified it and
// low-passed it at 10 Hz before it is written (what it was before is raw_EMG, which is not read).
#pragma once

#include <filesystem>

#include "core/decoding/session.h"

namespace mambarium {

// Bin b begins at time_frame(b+1). A trial has the bins that begin in [start, end); one without a start, an end or a
// bin (NaN, or outside the recording) is left out; one that was not rewarded may have any target. Bins stay as wide as
// in the file, usually 1 ms: see rebin(). Throws std::invalid_argument, one sentence that begins with the path: what
// open_mat_struct refuses, a field that is missing or holds something else, lengths that do not fit each other, what
// check_session refuses.
DecodingSession read_xds_session(const std::filesystem::path& path);

}  // namespace mambarium
