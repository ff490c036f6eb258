// The module: every kernel in one unit, so that one PTX and one host library hold them all.
#include "draws.cu"
#include "elementwise.cu"
#include "matmul.cu"
#include "random.cu"
#include "reduce.cu"
