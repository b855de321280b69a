// mambarium-worker: its commands, its messages, its exit codes.
#pragma once

namespace mambarium {

// 0: done. 1: it could not be done. 2: bad flags, settings or files. 130: interrupted, after a checkpoint. Never
// throws.
int run_worker_program(int argc, char** argv);

}  // namespace mambarium
