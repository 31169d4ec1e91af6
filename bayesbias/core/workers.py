"""Who does the work of many tasks.

This process, local processes that may die, or a Dask cluster.
"""

import contextlib
import functools
import multiprocessing
import os
import queue
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, override
from unittest import mock

from bayesbias.core import checks
from bayesbias.core.errors import BayesbiasError, FitError, InputError
from bayesbias.core.packages import needed

_ATTEMPTS = 2
_ANSWER_S = 10  # how long a scheduler may take to answer
# A worker is one of many: libraries that would each take all cores for themselves get one.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def describe_error(error: BaseException) -> str:
    """Say an error in one line: our own by its message, any other by its type too."""
    return str(error) if isinstance(error, BayesbiasError) else f"{type(error).__name__}: {error}"


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _blas() -> Any:
    """Return what holds the threads of linear algebra, found once.

    Looking for them takes milliseconds.
    """
    import scipy.linalg  # noqa: F401 - it has one of its own
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextlib.contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """Keep linear algebra on one thread.

    Small matrices cost less so; and sums over several threads round otherwise, so that the same
    seed gives other draws.
    """
    with _blas().limit(limits=1):
        yield


@contextlib.contextmanager
def _as_in_a_worker() -> Iterator[None]:
    """Keep libraries to one thread, and warnings from becoming errors by a caller's filters."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("default")
        for quiet in (
            DeprecationWarning,
            PendingDeprecationWarning,
            ImportWarning,
            ResourceWarning,
        ):
            warnings.simplefilter("ignore", quiet)
        yield


@dataclass
class Task:
    """One call that a worker makes, and what is done with the answer."""

    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    then: Callable[[Any], None]
    fail: Callable[[str], None]
    tables: bool = False  # it reads files, which a cluster does not have
    attempts: int = 0


class Here:
    """The process itself: one task after another. What kills a task kills all."""

    def __init__(self) -> None:
        self.holds: set[Any] = set()

    def __enter__(self) -> "Here":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def room(self, task: Task) -> bool:
        """Whether a task may start now."""
        return not self.holds

    def submit(self, task: Task) -> Any:
        """Do the task at once; what it raises is in the future, as of a worker."""
        future: Future[Any] = Future()
        self.holds.add(future)
        try:
            with _as_in_a_worker():
                future.set_result(task.work(*task.arguments))
        except (KeyboardInterrupt, SystemExit):
            raise  # meant for this process, not for the task
        except BaseException as error:  # a panic of a compiled library is no Exception
            future.set_exception(error)
        return future

    def lost(self, future: Any) -> bool:
        """Let a future go; say whether its worker died before it answered."""
        self.holds.discard(future)
        return False

    def check(self) -> None:
        """Raise where nobody will answer any more."""


class Processes(Here):
    """Local processes, one executor for each: where one dies, it is known which task it held."""

    def __init__(self, workers: int) -> None:
        super().__init__()
        self.idle: list[ProcessPoolExecutor] = []
        self.busy: dict[Any, ProcessPoolExecutor] = {}
        self.workers = workers

    def __enter__(self) -> "Processes":
        self.idle = [_process() for _ in range(self.workers)]
        try:
            for ready in [slot.submit(os.getpid) for slot in self.idle]:
                ready.result()
        except BrokenProcessPool:
            self.__exit__()
            raise FitError(
                "the worker processes do not start; in a script of your own, what starts them must "
                "be called "
                'under `if __name__ == "__main__":`, since every worker imports the script'
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        for slot in [*self.idle, *self.busy.values()]:
            for process in list((slot._processes or {}).values()):
                process.kill()  # finished work is on the disk
            slot.shutdown(wait=True, cancel_futures=True)

    @override
    def room(self, task: Task) -> bool:
        return bool(self.idle)

    @override
    def submit(self, task: Task) -> Any:
        slot = self.idle.pop()
        try:
            future = slot.submit(task.work, *task.arguments)
        except BrokenProcessPool:  # it died while it had nothing to do
            slot = _process()
            future = slot.submit(task.work, *task.arguments)
        self.busy[future] = slot
        return future

    @override
    def lost(self, future: Any) -> bool:
        slot = self.busy.pop(future)
        died = isinstance(future.exception(), BrokenProcessPool)
        self.idle.append(_process() if died else slot)
        return died


def _process() -> ProcessPoolExecutor:
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _start_worker)
    with mock.patch.dict(os.environ, dict.fromkeys(_ONE_THREAD, "1")):
        pool.submit(os.getpid)  # the process starts here, and takes the environment with it
    return pool


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it however it ends."""
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


class Cluster(Here):
    """A Dask cluster for the fits. Files are read here, so the workers need none of them."""

    def __init__(self, address: str) -> None:
        super().__init__()
        instead = "local processes (--workers)"
        self.distributed = needed("dask", "distributed", purpose="a Dask cluster", instead=instead)
        self.address = address

    def __enter__(self) -> "Cluster":
        try:
            self.client = self.distributed.Client(
                self.address, timeout=_ANSWER_S, set_as_default=False
            )
        except (OSError, ValueError, TypeError, OverflowError) as error:
            raise InputError(
                f"no Dask scheduler answers ({describe_error(error)})",
                where=self.address,
                valid="such as tcp://host:8786",
            ) from None
        try:
            self.client.wait_for_workers(1, timeout=60)
        except TimeoutError:
            self.client.close()
            raise InputError(
                "the Dask scheduler has no workers",
                where=self.address,
                hint=f"start one: dask worker {self.address}",
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self.holds and self.client.status == "running":
            self.client.cancel(list(self.holds))
        self.client.close()

    @override
    def room(self, task: Task) -> bool:
        # Twice as many as there are threads, so that none waits for us; asked anew, since workers
        # come and go.
        return len(self.holds) < 2 * max(1, sum(self.client.nthreads().values()))

    @override
    def submit(self, task: Task) -> Any:
        if task.tables:
            return super().submit(task)
        future = self.client.submit(task.work, *task.arguments, pure=False)
        self.holds.add(future)
        return future

    @override
    def lost(self, future: Any) -> bool:
        self.holds.discard(future)
        if isinstance(future, Future):  # done here
            return False
        self.check()
        # Dask itself gives the task of a dead worker to another, some three times, before it says
        # so.
        return future.cancelled()

    @override
    def check(self) -> None:
        if self.client.status not in ("running", "newly-created"):
            raise FitError(
                f"the Dask scheduler at {self.address} is gone; finished work is safe, and "
                f"--resume goes on"
            )


class Hands:
    """Who works off tasks; started when there is work, and ended with it.

    Parameters
    ----------
    workers : int, optional
        Local processes; by default one per core. With 1 this process does the work itself.
    dask : str, optional
        The address of a Dask scheduler that does the work instead (extra ``dask``), such as
        ``tcp://host:8786``. Its workers need this package, none of the files, and best one thread
        each.
    """

    def __init__(self, workers: int | None = None, dask: str | None = None) -> None:
        if dask is not None and workers is not None:
            raise InputError("expected workers (local processes) or dask (a cluster), got both")
        if workers is not None:
            checks.count(workers, "workers", most=1024)
        self.workers, self.dask = workers, dask
        self._started = contextlib.ExitStack()
        self._pool: Here | None = None

    def __enter__(self) -> "Hands":
        return self

    def __exit__(self, *error: Any) -> None:
        self._pool = None
        self._started.__exit__(*error)

    def started(self, tasks: int) -> Here:
        """Return who works, started where nobody is yet; no more processes than there are tasks."""
        if self._pool is None:
            pool: Here
            if self.dask is not None:
                pool = Cluster(self.dask)
            elif self.workers == 1 or (self.workers is None and tasks < 2):
                pool = Here()
            else:
                pool = Processes(max(1, min(self.workers or cores(), tasks)))
            self._pool = self._started.enter_context(pool)
        return self._pool


def carry_out(tasks: deque[Task], pool: Here) -> None:
    """Work off the tasks; they may add others.

    A task whose worker died is tried once more, and then reported.
    """
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    held: dict[Any, Task] = {}
    while tasks or held:
        while tasks and pool.room(tasks[0]):
            future = pool.submit(tasks[0])
            held[future] = tasks.popleft()
            future.add_done_callback(done.put)
        try:
            future = done.get(timeout=5.0)
        except queue.Empty:
            pool.check()
            continue
        task = held.pop(future)
        if pool.lost(future):
            task.attempts += 1
            if task.attempts < _ATTEMPTS:
                tasks.appendleft(task)
            else:
                task.fail(
                    f"the worker process died {task.attempts} times (ended by the system, perhaps "
                    f"for lack of memory)"
                )
        elif (error := future.exception()) is not None:
            task.fail(describe_error(error))
        else:
            task.then(future.result())
