// The one precompiled header for LibTorch: about ten seconds a file without it.
#pragma once
#include <torch/torch.h>
