#include "core/service/worker_program.h"
#include "core/training/blas_kernels.h"

int main(int argc, char** argv) {
  mambarium::start_with_good_blas_kernels(argv);
  return mambarium::run_worker_program(argc, argv);
}
