#include "core/service/worker_program.h"

int main(int argc, char** argv) {
  return mambarium::run_worker_program(argc, argv);
}
