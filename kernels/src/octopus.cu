// The module: every kernel in one unit, so that one PTX and one host library hold them all.
#include "broadcast.cu"
#include "draws.cu"
#include "elementwise.cu"
#include "layout.cu"
#include "matmul.cu"
#include "random.cu"
#include "reduce.cu"
#include "von_mises_fisher.cu"
