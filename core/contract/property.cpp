#include "core/contract/property.h"
