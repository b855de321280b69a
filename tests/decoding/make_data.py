#!/usr/bin/env python3
"""Writes tests/decoding/data with numpy, scipy and h5py: one small session in every form that is read.

    python3 make_data.py            needs numpy, scipy and h5py

The files are committed; this says what is in them and makes them again, number for number.
"""

import json
import pathlib

import h5py
import numpy
import scipy.io

folder = pathlib.Path(__file__).parent / "data"
random = numpy.random.default_rng(20)

bins, channels, bin_width, start = 400, 5, 0.01, 1.5
factor, window_bins = 5, 8  # to bins of 50 ms, and their windows

time_frame = start + bin_width * numpy.arange(bins)
spike_counts = random.poisson(0.35, (bins, channels)).astype(float)
emg = numpy.round(random.gamma(2.0, 0.5, (bins, 2)), 3)
force = numpy.round(random.normal(0, 1, (bins, 2)), 3)
curs_p = numpy.round(numpy.cumsum(random.normal(0, 0.02, (bins, 2)), axis=0), 4)
curs_v = numpy.round(numpy.gradient(curs_p, bin_width, axis=0), 4)
trial_begin = numpy.array([7, 110, 205, 300])  # bins of 10 ms
trial_end = numpy.array([104, 190, 290, 391])
trial_start_time = start + bin_width * trial_begin
trial_end_time = start + bin_width * trial_end
trial_gocue_time = numpy.array([trial_start_time[0] + 0.2, numpy.nan, trial_start_time[2] + 0.3, trial_start_time[3] + 0.1])
trial_result = "RFRR"
trial_target_dir = numpy.array([45.0, 180.0, -90.0, 0.0])
directions = [1, 4, 6, 0]
unit_names = [f"elec{3 * c + 1}" for c in range(channels)]
emg_names = ["EMG_FCR", "EMG_ECU"]
spikes = [
    numpy.repeat(time_frame, spike_counts[:, c].astype(int)) + 0.002
    + 0.001 * numpy.concatenate([numpy.arange(n) for n in spike_counts[:, c].astype(int)])
    for c in range(channels)
]


def column(values):
    return numpy.asarray(values, dtype=float).reshape(-1, 1)


def fields(with_counts, with_spikes):
    found = {
        "bin_width": bin_width,
        "time_frame": column(time_frame),
        "unit_names": unit_names,
        "EMG": emg,
        "EMG_names": emg_names,
        "force": force,
        "curs_p": curs_p,
        "curs_v": curs_v,
        "trial_result": trial_result,
        "trial_start_time": column(trial_start_time),
        "trial_gocue_time": column(trial_gocue_time),
        "trial_end_time": column(trial_end_time),
        "trial_target_dir": column(trial_target_dir),
    }
    if with_counts:
        found["spike_counts"] = spike_counts
    if with_spikes:
        found["spikes"] = [column(times) for times in spikes]
    return found


def cell(values):
    out = numpy.empty((1, len(values)), dtype=object)
    for i, value in enumerate(values):
        out[0, i] = value
    return out


def write_v5(name, compress, with_counts):
    struct = {}
    for key, value in fields(with_counts, True).items():
        if key == "trial_result":
            value = numpy.array(list(value)).reshape(-1, 1)  # one character a row, as in a table
        struct[key] = cell(value) if isinstance(value, list) else value
    scipy.io.savemat(folder / name, {"xds": struct}, do_compression=compress)


def write_v73(name):
    """MATLAB's layout: arrays lie transposed, a struct is a group, a cell holds references, a text is uint16."""
    path = folder / name
    with h5py.File(path, "w", userblock_size=512, libver="earliest") as file:
        references = file.create_group("#refs#")
        xds = file.create_group("xds")
        xds.attrs["MATLAB_class"] = numpy.bytes_("struct")

        def put(group, key, value):
            if isinstance(value, list):
                held = [put(references, f"{key}{i}", part).ref for i, part in enumerate(value)]
                data = group.create_dataset(key, data=numpy.array(held, dtype=h5py.ref_dtype).reshape(-1, 1), dtype=h5py.ref_dtype)
                data.attrs["MATLAB_class"] = numpy.bytes_("cell")
                return data
            if isinstance(value, str):
                codes = numpy.array([ord(letter) for letter in value], dtype=numpy.uint16)
                # trial_result has a row for every trial, names are one row
                shape = (1, -1) if key == "trial_result" else (-1, 1)
                data = group.create_dataset(key, data=codes.reshape(shape))
                data.attrs["MATLAB_class"] = numpy.bytes_("char")
                data.attrs["MATLAB_int_decode"] = numpy.int32(2)
                return data
            array = numpy.atleast_2d(numpy.asarray(value, dtype=float)).T
            packed = {"compression": "gzip", "chunks": array.shape} if array.size > 100 else {}
            data = group.create_dataset(key, data=array, **packed)
            data.attrs["MATLAB_class"] = numpy.bytes_("double")
            return data

        for key, value in fields(True, False).items():
            put(xds, key, value)
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  1 00:00:00 2024 HDF5 schema 1.00 ."
    with open(path, "r+b") as file:
        file.write(header.ljust(116) + bytes(8) + b"\x00\x02IM")


def windows():
    coarse = spike_counts[: bins // factor * factor].reshape(-1, factor, channels).sum(axis=1)
    activity, label = [], []
    for begin, end, result, direction in zip(trial_begin, trial_end, trial_result, directions):
        if result != "R":
            continue
        for first in range(-(-begin // factor), end // factor - window_bins + 1):
            activity.append(coarse[first : first + window_bins])
            label.append(direction)
    return numpy.array(activity, dtype=numpy.float32), numpy.array(label, dtype=numpy.int64)


def every_type(activity):
    some = numpy.round(activity[:3] * 2).astype(int)
    found = {f"{kind}": some.astype(kind) for kind in
             ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]}
    found["bool"] = some > 0
    found["fortran"] = numpy.asfortranarray(some.astype("f8"))
    found["big"] = some.astype(">i4")
    found["scalar"] = numpy.array(7)
    found["empty"] = numpy.zeros((0, 3), dtype="f4")
    found["half"] = some.astype("f2")
    found["complex"] = some.astype("c16")
    return some, found


def main():
    folder.mkdir(exist_ok=True)
    write_v5("session_v5.mat", True, True)
    write_v5("spikes_v5.mat", False, False)
    write_v73("session_v73.mat")
    activity, label = windows()
    numpy.savez_compressed(folder / "windows.npz", neural_activity=activity, classification_label=label)
    some, types = every_type(activity)
    numpy.savez(folder / "types.npz", **types)
    numpy.savez(folder / "objects.npz", words=numpy.array(["a", {}], dtype=object))
    expected = {
        "bins": bins, "channels": channels, "bin_width": bin_width,
        "counts_sum": float(spike_counts.sum()),
        "counts_weighted": float((spike_counts * numpy.arange(spike_counts.size).reshape(spike_counts.shape)).sum()),
        "outputs": [f"EMG_FCR", "EMG_ECU", "force_x", "force_y", "curs_p_x", "curs_p_y", "curs_v_x", "curs_v_y"],
        "outputs_row_123": [float(v) for v in numpy.concatenate([emg, force, curs_p, curs_v], axis=1)[123]],
        "unit_names": unit_names,
        "trials": [{"begin": int(b), "end": int(e), "go": g, "direction": d, "rewarded": r == "R"}
                   for b, e, g, d, r in zip(trial_begin, trial_end, [27, -1, 235, 310], directions, trial_result)],
        "windows": list(activity.shape), "labels": [int(v) for v in label],
        "activity_sum": float(activity.sum()),
        "activity_weighted": float((activity.astype(float) * numpy.arange(activity.size).reshape(activity.shape)).sum()),
        "types": [int(v) for v in some.reshape(-1)],
        "types_shape": list(some.shape),
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


main()
