"""The kernels of a fit on a GPU with one score a row, in CUDA C++.

What is read once is used for all there is to make of it, and sums are added in an order that
does not depend on which block is done first. `stored` is the type of the rows, `number` that of
products with them; a lane holds `LANE` columns of each of `ROWS` rows.
"""

from __future__ import annotations

from bblr._numeric.device_code import SUMS

_TOTAL = """
__device__ double column_total(const double* table, int rows, int columns, int j) {
    double own = 0.0;
    for (int i = threadIdx.x; i < rows; i += blockDim.x) own += table[i * columns + j];
    return all_threads(own);
}
"""

# Parameters of the loss, and behind them the strength of the penalty and the weight of all rows.
# They lie on the device, where a recorded step reads them anew.
_PARAMETERS = """
#define PARAMETERS const double gamma = numbers[0], low_positive = numbers[1], \\
    low_negative = numbers[2], span = numbers[3];
"""

# Parameters at the end of a step, and the plane they are in the units of the rows.
_PREPARE = """
extern "C" __global__ void prepare(
    const double* theta, const double* step, const double* length, const double* centre,
    const double* inverse, int d, int size, double* there, double* plane) {
    const double t = *length;
    double own = 0.0;
    for (int j = threadIdx.x; j < d; j += blockDim.x) {
        const double u = theta[j] + t * step[j], coef = u * inverse[j];
        there[j] = u;
        plane[j] = coef;
        own += coef * centre[j];
    }
    own = all_threads(own);
    if (threadIdx.x == 0) {
        double intercept = 0.0;
        if (size > d) there[d] = intercept = theta[d] + t * step[d];
        plane[d] = intercept - own;
    }
}
"""

# Scores of all rows, and of each block of threads its value, slope and gradient.
_ROWS_PASS = """
extern "C" __global__ void __launch_bounds__(256) rows_pass(
    const stored* X, int n, int d, const double* plane, const double* y, const double* weight,
    const double* numbers, double* raw, double* partial) {
    PARAMETERS
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    number coef[LANE], few[LANE];
    double gradient[LANE], value = 0.0, slope = 0.0;
    #pragma unroll
    for (int k = 0; k < LANE; ++k) {
        const int j = lane + 32 * k;
        coef[k] = j < d ? (number)plane[j] : (number)0;
        few[k] = 0;
        gradient[k] = 0.0;
    }
    const long long stride = (long long)gridDim.x * warps * ROWS;
    int turn = 0;
    for (long long i = ((long long)blockIdx.x * warps + warp) * ROWS; i < n; i += stride) {
        stored x[ROWS][LANE];
        number score[ROWS];
        #pragma unroll
        for (int r = 0; r < ROWS; ++r)
            #pragma unroll
            for (int k = 0; k < LANE; ++k) {
                const int j = lane + 32 * k;
                x[r][k] = i + r < n && j < d ? X[(i + r) * d + j] : (stored)0;
            }
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            score[r] = 0;
            #pragma unroll
            for (int k = 0; k < LANE; ++k) score[r] += coef[k] * (number)x[r][k];
        }
        #pragma unroll
        for (int o = 16; o > 0; o >>= 1)
            #pragma unroll
            for (int r = 0; r < ROWS; ++r)
                score[r] += __shfl_xor_sync(0xffffffffu, score[r], o);
        number mine = score[0];
        #pragma unroll
        for (int r = 1; r < ROWS; ++r) if (lane == r) mine = score[r];
        double pull = 0.0;
        if (lane < ROWS && i + lane < n) {
            const double own = (double)mine + plane[d], label = y[i + lane], w = weight[i + lane];
            value += bblr_value(label, own, w, gamma, low_positive, low_negative, span);
            pull = bblr_residual(label, own, w, gamma, low_positive, low_negative, span);
            slope += pull;
            raw[i + lane] = own;
        }
        const number narrow = (number)pull;
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const number factor = __shfl_sync(0xffffffffu, narrow, r);
            #pragma unroll
            for (int k = 0; k < LANE; ++k) few[k] += factor * (number)x[r][k];
        }
        // Long sums lose digits: only a few rows are added in the precision of the products.
        if (++turn % 16 == 0)
            #pragma unroll
            for (int k = 0; k < LANE; ++k) { gradient[k] += (double)few[k]; few[k] = 0; }
    }
    __shared__ double all[8][32];
    double* out = partial + (long long)blockIdx.x * (d + 2);
    value = all_threads(value);
    slope = all_threads(slope);
    if (threadIdx.x == 0) { out[0] = value; out[1] = slope; }
    #pragma unroll
    for (int k = 0; k < LANE; ++k) {
        const int j = lane + 32 * k;
        __syncthreads();
        all[warp][lane] = gradient[k] + (double)few[k];
        __syncthreads();
        if (warp == 0 && j < d) {
            double total = 0.0;
            for (int v = 0; v < warps; ++v) total += all[v][lane];
            out[2 + j] = total;
        }
    }
}
"""

# Value and gradient in unit-free coordinates, and the slope along the step.
_FINISH = """
extern "C" __global__ void __launch_bounds__(1024) finish(
    const double* partial, int blocks, int d, int size, const double* there, const double* step,
    const double* centre, const double* inverse, const double* numbers,
    double* gradient, double* head) {
    const double l2 = numbers[4];
    __shared__ double part[4][256];
    __shared__ double slope;
    const int column = threadIdx.x & 255, group = threadIdx.x >> 8, columns = d + 2;
    double value = 0.0, ahead = 0.0;
    for (int first = 0; first < columns; first += 256) {
        const int c = first + column, j = c - 2;
        double own = 0.0;
        if (c < columns)
            #pragma unroll 8
            for (int b = group; b < blocks; b += 4) own += partial[(long long)b * columns + c];
        __syncthreads();
        part[group][column] = own;
        __syncthreads();
        own = part[0][column] + part[1][column] + part[2][column] + part[3][column];
        if (c == 1 && group == 0) slope = own;
        __syncthreads();
        if (group == 0 && c < columns) {
            if (c == 0) value += own;
            if (c == 1 && size > d) {
                gradient[d] = own;
                ahead += own * step[d];
            }
            if (j >= 0) {
                const double u = there[j], found = (own - slope * centre[j]) * inverse[j] + l2 * u;
                gradient[j] = found;
                value += 0.5 * l2 * u * u;
                ahead += found * step[j];
            }
        }
    }
    value = all_threads(value);
    ahead = all_threads(ahead);
    if (threadIdx.x == 0) { head[0] = value; head[1] = ahead; }
}
"""

# The curvature of each row; of each block of threads its sum, that of what a row contributes to
# the matrix of second moments, and the count of rows that contribute at all.
_CURVE = """
extern "C" __global__ void curve(
    const double* raw, const double* y, const double* weight, const double* length,
    const double* numbers, int expected, int n, double* bend, double* totals) {
    PARAMETERS
    double sum = 0.0, share = 0.0, count = 0.0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        const double found = expected
            ? bblr_fisher(y[i], raw[i], weight[i], gamma, low_positive, low_negative, span)
            : bblr_positive(y[i], raw[i], weight[i], gamma, low_positive, low_negative, span);
        bend[i] = found;
        sum += found;
        share += found * length[i];
        count += found > 0.0 ? 1.0 : 0.0;
    }
    sum = all_threads(sum);
    share = all_threads(share);
    count = all_threads(count);
    if (threadIdx.x == 0) {
        totals[3 * blockIdx.x] = sum;
        totals[3 * blockIdx.x + 1] = share;
        totals[3 * blockIdx.x + 2] = count;
    }
}
"""

# How many rows each row stands for in a sample, see `sample` in tensor_objective.py.
_REACH = """
__device__ double share_of(double bend, double length, double factor) {
    const double found = bend * length * factor;
    return found < 1.0 ? found : 1.0;
}
__device__ double factor_of(const double* totals, int blocks, double most) {
    const double share = column_total(totals, blocks, 3, 1);
    return most / (share > 1e-290 ? share : 1e-290);
}
extern "C" __global__ void reach(
    const double* bend, const double* length, const double* totals, int blocks, double most,
    int n, double* out) {
    const double factor = factor_of(totals, blocks, most);
    const bool every = column_total(totals, blocks, 3, 2) <= most;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x)
        out[i] = every ? (bend[i] > 0.0 ? 1.0 : 0.0) : share_of(bend[i], length[i], factor);
}
"""

# The rows of the sample in unit-free coordinates, times the root of what they count for.
_PICK = """
extern "C" __global__ void pick(
    const stored* X, int n, int d, int size, const double* reached, const double* bend,
    const double* length, const double* totals, int blocks, int most, const double* centre,
    const double* inverse, double* out) {
    const double factor = factor_of(totals, blocks, (double)most);
    const bool every = column_total(totals, blocks, 3, 2) <= (double)most;
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= most) return;
    const double at = row + 0.5;
    long long low = 0, high = n;
    while (low < high) {
        const long long middle = (low + high) / 2;
        if (reached[middle] < at) low = middle + 1; else high = middle;
    }
    double root = 0.0;
    if (low < n)
        root = sqrt(bend[low] / (every ? 1.0 : share_of(bend[low], length[low], factor)));
    else low = n - 1;
    for (int j = lane; j < d; j += 32)
        out[(long long)row * size + j]
            = root * (((double)X[low * d + j] - centre[j]) * inverse[j]);
    if (lane == 0 && size > d) out[(long long)row * size + d] = root;
}
"""

# A share of the mean curvature and the penalty, added to the diagonal of a matrix.
_DIAGONAL = """
extern "C" __global__ void diagonal(
    double* matrix, int size, int d, const double* totals, int blocks, double share,
    double least, double lowest, const double* numbers, double* out) {
    const double l2 = numbers[4], total = numbers[5];
    least *= total > lowest ? total : lowest;
    const double mean = share * column_total(totals, blocks, 3, 0) / size;
    for (int j = threadIdx.x; j < size; j += blockDim.x)
        out[j] = matrix[(long long)j * size + j]
            += (mean > least ? mean : least) + (j < d ? l2 : 0.0);
}
extern "C" __global__ void direct(
    const double* found, const int* failed, const double* gradient, const double* diagonal,
    int size, double* out) {
    for (int j = threadIdx.x; j < size; j += blockDim.x)
        out[j] = -(*failed ? gradient[j] / diagonal[j] : found[j]);
}
"""

# Of each block of threads, column by column: sums about a shift, of squares, of what is not zero.
_MOMENTS = """
extern "C" __global__ void __launch_bounds__(256) moments(
    const stored* X, int n, int d, const double* weight, const double* shift, double* partial) {
    __shared__ double part[3][256];
    const int column = threadIdx.x & 31, group = threadIdx.x >> 5, groups = blockDim.x >> 5;
    const int j = blockIdx.y * 32 + column;
    const double origin = j < d ? shift[j] : 0.0;
    double sum = 0.0, square = 0.0, nonzero = 0.0;
    if (j < d)
        #pragma unroll 8
        for (long long i = (long long)blockIdx.x * groups + group; i < n;
             i += (long long)gridDim.x * groups) {
            const double x = (double)X[i * d + j], w = weight[i], moved = x - origin;
            sum += w * moved;
            square += w * moved * moved;
            nonzero += x != 0.0 ? w : 0.0;
        }
    part[0][threadIdx.x] = sum;
    part[1][threadIdx.x] = square;
    part[2][threadIdx.x] = nonzero;
    __syncthreads();
    if (group < 3 && j < d) {
        double total = 0.0;
        for (int g = 0; g < groups; ++g) total += part[group][g * 32 + column];
        partial[((long long)blockIdx.x * 3 + group) * d + j] = total;
    }
}
"""

# The squared length of each row, centred and scaled.
_LENGTHS = """
extern "C" __global__ void __launch_bounds__(256) lengths(
    const stored* X, int n, int d, const double* centre, const double* inverse, double* out) {
    const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    for (long long i = (long long)blockIdx.x * warps + (threadIdx.x >> 5); i < n;
         i += (long long)gridDim.x * warps) {
        double own = 0.0;
        #pragma unroll 8
        for (int j = lane; j < d; j += 32) {
            const double moved = ((double)X[i * d + j] - centre[j]) * inverse[j];
            own += moved * moved;
        }
        own = all_lanes(own);
        if (lane == 0) out[i] = own;
    }
}
"""

NAMES = (
    "prepare", "rows_pass", "finish", "curve", "reach", "pick", "diagonal", "direct",
    "moments", "lengths",
)  # fmt: skip


def source(loss: str, stored: str, number: str, lane: int, rows: int) -> str:
    """Return the source of all kernels.

    Parameters
    ----------
    loss : str
        Functions `bblr_value`, `bblr_residual`, `bblr_positive` and `bblr_fisher` of a label, a
        score, a weight and the parameters of the loss.
    stored, number : {"float", "double"}
        Type of the rows and of products with them.
    lane, rows : int
        Columns of a lane, and rows that a warp reads at once.
    """
    head = (
        f"typedef {stored} stored; typedef {number} number;\n"
        f"#define LANE {lane}\n#define ROWS {rows}\n"
    )
    parts = (
        SUMS, _TOTAL, _PARAMETERS, _PREPARE, _ROWS_PASS, _FINISH, _CURVE, _REACH, _PICK,
        _DIAGONAL, _MOMENTS, _LENGTHS,
    )  # fmt: skip
    return head + loss + "".join(parts)
