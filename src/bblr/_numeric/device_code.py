"""CUDA C++ that PyTorch compiles at run time for the GPU at hand, and recorded work on it.

To start a kernel from Python takes longer than many of them run. A CUDA graph starts all kernels
of a step at once; they read and write the same memory each time.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch

Tensor = torch.Tensor

THREADS = 256
# Blocks of threads for each multiprocessor.
_BLOCKS = 2


class DeviceKernels:
    """Compiled kernels on one device.

    Parameters
    ----------
    module : object
        What PyTorch has compiled.
    names : sequence of str
        The kernels in it.
    device : torch.device
        Where it runs.

    Attributes
    ----------
    blocks : int
        How many blocks of threads keep the device busy.
    """

    def __init__(self, module: Any, names: Sequence[str], device: torch.device) -> None:
        self._functions = {name: getattr(module, name).func for name in names}
        self._launch = torch.cuda._utils._get_gpu_runtime_library().cuLaunchKernel
        self.device = device
        count = torch.cuda.get_device_properties(device).multi_processor_count
        self.blocks = _BLOCKS * count

    def __call__(
        self, name: str, blocks: int, *args: Any, threads: int = THREADS, tiles: int = 1
    ) -> None:
        """Start a kernel; its arguments are tensors, whole numbers and floats."""
        values = [_KINDS[type(value)](value) for value in args]
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        if torch.cuda.current_device() == self.device.index:
            self._start(name, blocks, tiles, threads, pointers)
        else:
            with torch.cuda.device(self.device):
                self._start(name, blocks, tiles, threads, pointers)

    def _start(self, name: str, blocks: int, tiles: int, threads: int, pointers: Any) -> None:
        stream = torch._C._cuda_getCurrentRawStream(self.device.index)
        failed = self._launch(
            self._functions[name], blocks, tiles, 1, threads, 1, 1, 0,
            ctypes.c_void_p(stream), pointers, None,
        )  # fmt: skip
        if failed:
            raise RuntimeError(f"the GPU refused to start {name}: error {failed}")


_KINDS: dict[type, Callable[[Any], Any]] = {
    Tensor: lambda tensor: ctypes.c_void_p(tensor.data_ptr()),
    int: ctypes.c_int,
    float: ctypes.c_double,
}

# Sums of what the lanes of a warp, or the threads of a block, have: each has the sum.
SUMS = """
__device__ double all_lanes(double own) {
    for (int o = 16; o > 0; o >>= 1) own += __shfl_xor_sync(0xffffffffu, own, o);
    return own;
}
__device__ double all_threads(double own) {
    __shared__ double part[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    own = all_lanes(own);
    __syncthreads();
    if (lane == 0) part[warp] = own;
    __syncthreads();
    return all_lanes(lane < warps ? part[lane] : 0.0);
}
"""


def device_code(source: str, names: Sequence[str], device: torch.device) -> DeviceKernels | None:
    """Return the compiled kernels of a source; None where they cannot be compiled."""
    try:
        with torch.cuda.device(device):
            first = torch.cuda._compile_kernel(source, names[0], nvcc_options=["-default-device"])
            module = torch.cuda._utils._CudaModule(first.module)
            return DeviceKernels(module, names, device)
    except (ImportError, AttributeError, OSError, RuntimeError, TypeError):
        return None


_RECORDING = threading.Lock()


class Recorded:
    """Work that is recorded when it is done for the second time.

    Parameters
    ----------
    device : torch.device
        Where it is done.
    is_possible : bool, default=True
        Whether to record it if the device can.
    """

    def __init__(self, device: torch.device, is_possible: bool = True) -> None:
        self._device = device
        self._graph: Any = None
        self._is_plain = device.type != "cuda" or not is_possible
        # The first time, libraries make themselves ready, which cannot be recorded.
        self._is_ready = False

    def __call__(self, work: Callable[[], None]) -> None:
        """Do the work, the same each time.

        It reads and writes the same tensors, and never waits for the device. It is not kept: what
        owns the record owns the work as well, and would refer to itself.
        """
        if self._graph is None and self._is_ready and not self._is_plain:
            self._graph = _graph(work, self._device)
            self._is_plain = self._graph is None
        if self._graph is None:
            work()
            self._is_ready = True
        else:
            self._graph.replay()


@lru_cache(maxsize=16)
def _stream(device: torch.device) -> Any:
    """Return a stream of its own: the usual one cannot be recorded."""
    return torch.cuda.Stream(device)


def _graph(work: Callable[[], None], device: torch.device) -> Any:
    """Return a graph of the work; None where it cannot be recorded."""
    graph = torch.cuda.CUDAGraph()
    try:
        # Not `torch.cuda.graph`, which collects garbage and empties the memory cache first.
        with _RECORDING, torch.cuda.device(device), torch.cuda.stream(_stream(device)):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                work()
            finally:
                graph.capture_end()
    except RuntimeError:
        return None
    return graph
