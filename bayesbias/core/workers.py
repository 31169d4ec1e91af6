"""Who does the work of many tasks: local processes that may die, or a Dask cluster.

`carry_out` works off tasks; a task whose worker died is tried once more, and then reported. Nothing here
knows what a task is about.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import queue
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import BayesbiasError, FitError, InputError
from bayesbias.core.packages import needed, own_version

_ATTEMPTS = 2
_ANSWER_S = 10  # how long a scheduler may take to answer
_ADDRESS = re.compile(
    r"((?P<scheme>[a-z]+)://)?(?P<host>\[[0-9a-fA-F:]+\]|[^\s/:]+)(:(?P<port>\d{1,5}))?(/\S*)?"
)
_IN_PROCESS = re.compile(
    r"inproc://[^\s/]+/\d+/\d+"
)  # as dask names a scheduler of the same process
# A worker is one of many: libraries that would each take all cores for themselves get one.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def describe_error(error: BaseException) -> str:
    """Say an error in one line: our own by its message, any other by its type too."""
    return str(error) if isinstance(error, BayesbiasError) else f"{type(error).__name__}: {error}"


@functools.cache
def _blas() -> Any:
    """Return what holds the threads of the libraries of linear algebra, found once: looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401 - it has one of its own
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextlib.contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """Keep linear algebra on one thread.

    Small matrices cost less so; and sums over several threads round otherwise, so that the same seed gave other draws.
    """
    with _blas().limit(limits=1):
        yield


@dataclass
class Task:
    """One call that a worker makes, and what is done with the answer."""

    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    then: Callable[[Any], None]
    fail: Callable[[str], None]
    tables: bool = False  # it makes tables: it reads files, and other tasks wait for it
    attempts: int = 0


class Here:
    """The process itself: one task after another, and nothing to start. What kills a task kills all."""

    def __init__(self) -> None:
        self.holds: set[Any] = set()

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was started, so nothing is left."""

    def room(self, task: Task) -> bool:
        """Whether a task may start now."""
        return not self.holds  # what a task found is used up before the next one starts

    def submit(self, task: Task) -> Future[Any]:
        """Do the task at once; what it raises is in the future, as of a worker."""
        future: Future[Any] = Future()
        self.holds.add(future)
        try:
            with _as_in_a_worker():
                future.set_result(task.work(*task.arguments))
        except (KeyboardInterrupt, SystemExit):
            raise  # meant for this process, not for the task
        except (
            BaseException
        ) as error:  # as in a worker: a panic of a compiled library is no Exception
            future.set_exception(error)
        return future

    def lost(self, future: Any) -> bool:
        """Whether the worker died before it answered; this process did not."""
        self.holds.discard(future)
        return False

    def check(self) -> None:
        """Return at once: a task is through when `submit` returns."""


@contextlib.contextmanager
def _as_in_a_worker() -> Iterator[None]:
    """Keep libraries to one thread, and a caller's filters from turning a warning into a failure."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("default")
        for quiet in (
            DeprecationWarning,
            PendingDeprecationWarning,
            ImportWarning,
            ResourceWarning,
        ):
            warnings.simplefilter("ignore", quiet)  # as an interpreter does that has just started
        yield


class Processes:
    """Local processes, one executor for each: where one dies, it is known which task it held."""

    def __init__(self, workers: int) -> None:
        self.slots: list[ProcessPoolExecutor] = []
        self.holds: dict[Any, int] = {}
        self.workers = workers

    def __enter__(self) -> Processes:
        for _ in range(self.workers):
            self.slots.append(_process())
        try:
            for ready in [slot.submit(os.getpid) for slot in self.slots]:
                ready.result()
        except BrokenProcessPool:
            self.__exit__()
            raise FitError(
                "the worker processes do not start; in a script of your own, what starts them must be called "
                'under `if __name__ == "__main__":`, since every worker imports the script'
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        for slot in self.slots:
            for process in list((slot._processes or {}).values()):
                process.kill()  # finished cells are on the disk; an unfinished one would keep us waiting
            slot.shutdown(wait=True, cancel_futures=True)

    def room(self, task: Task) -> bool:
        """Whether a worker is free for the task now."""
        return len(self.holds) < len(self.slots)

    def submit(self, task: Task) -> Any:
        """Hand the task to a worker and return its future."""
        free = next(
            number for number in range(len(self.slots)) if number not in self.holds.values()
        )
        try:
            future = self.slots[free].submit(task.work, *task.arguments)
        except BrokenProcessPool:  # it died while it had nothing to do
            self.slots[free].shutdown(wait=True)
            self.slots[free] = _process()
            future = self.slots[free].submit(task.work, *task.arguments)
        self.holds[future] = free
        return future

    def lost(self, future: Any) -> bool:
        """Free the slot of a task; whether its process died under it. A new one takes its place."""
        slot = self.holds.pop(future)
        if not isinstance(future.exception(), BrokenProcessPool):
            return False
        self.slots[slot].shutdown(wait=True)
        self.slots[slot] = _process()
        return True

    def check(self) -> None:
        """Return at once: processes tell of their end themselves."""


def _process() -> ProcessPoolExecutor:
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _start_worker)
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        pool.submit(os.getpid)  # the process starts here, and takes the environment with it
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
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


class Cluster:
    """A Dask cluster for the fits. Files are read here, so the workers need none of them."""

    def __init__(self, address: str) -> None:
        instead = "local processes (--workers)"
        self.distributed = needed("dask", "distributed", purpose="a Dask cluster", instead=instead)
        self.address = address
        self.reader = Processes(1)
        self.holds: set[Any] = set()

    def __enter__(self) -> Cluster:
        self._look()
        try:
            self.client = self.distributed.Client(
                self.address, timeout=_ANSWER_S, set_as_default=False
            )
        except (OSError, ValueError, TypeError) as error:
            raise self._silent(error) from None
        try:
            self.client.wait_for_workers(1, timeout=60)
            self.reader.__enter__()
        except TimeoutError:
            self.client.close()
            raise InputError(
                "the Dask scheduler has no workers",
                where=self.address,
                hint=f"start one: dask worker {self.address}",
            ) from None
        except BaseException:
            self.client.close()
            raise
        return self

    def _look(self) -> None:
        """Refuse an address that is none, and one at which nobody answers, before a client waits for it at length."""
        match = _ADDRESS.fullmatch(self.address)
        in_process = self.address.startswith("inproc:")
        if match is None or (in_process and not _IN_PROCESS.fullmatch(self.address)):
            raise InputError(
                "is no address", where="dask", found=self.address, valid="such as tcp://host:8786"
            )
        if match["scheme"] not in (None, "tcp", "tls") or match["port"] is None:
            return
        import socket

        try:
            with socket.create_connection(
                (match["host"].strip("[]"), int(match["port"])), _ANSWER_S
            ) as line:
                # A scheduler speaks first; what accepts and says nothing would be waited for without end.
                if match["scheme"] != "tls" and not line.recv(1):
                    raise OSError("it closes the connection")
        except (OSError, OverflowError, UnicodeError) as error:
            raise self._silent(error) from None

    def _silent(self, error: Exception) -> InputError:
        return InputError(
            f"no Dask scheduler answers ({describe_error(error)})",
            where=self.address,
            valid="such as tcp://host:8786",
        )

    def __exit__(self, *_: object) -> None:
        self.reader.__exit__()
        if self.holds and self.client.status == "running":
            self.client.cancel(list(self.holds))
        self.client.close()

    def room(self, task: Task) -> bool:
        """Whether a worker is free for the task now."""
        if task.tables:
            return self.reader.room(task)
        # Twice as many as there are threads, so that none waits for us; asked anew, since workers come and go.
        return len(self.holds) < 2 * max(1, sum(self.client.nthreads().values()))

    def submit(self, task: Task) -> Any:
        """Hand the task to a worker and return its future."""
        if task.tables:
            return self.reader.submit(task)
        future = self.client.submit(task.work, *task.arguments, pure=False)
        self.holds.add(future)
        return future

    def lost(self, future: Any) -> bool:
        """Give the worker of a future back; say whether the task died with it and must be run again."""
        if future in self.reader.holds:
            return self.reader.lost(future)
        self.holds.discard(future)
        self.check()
        # Dask itself gives the task of a dead worker to another, some three times, before it says so.
        return future.cancelled()

    def check(self) -> None:
        """Raise where the scheduler is gone, so that nobody waits for it."""
        if self.client.status not in ("running", "newly-created"):
            raise FitError(
                f"the Dask scheduler at {self.address} is gone; the finished cells are safe, and --resume goes on"
            )


class Hands:
    """Who will work off tasks: this process, some like it, or a cluster; started when there is work, and ended with it.

    Parameters
    ----------
    workers : int, optional
        Local processes; by default one per core. With 1 this process does the work itself.
    dask : str, optional
        The address of a Dask scheduler that does the work instead (extra ``dask``), such as ``tcp://host:8786``. Its
        workers need this package, none of the files, and best one thread each.

    Raises
    ------
    InputError
        For both, and for a number of workers that is none.
    """

    def __init__(self, workers: int | None = None, dask: str | None = None) -> None:
        if dask is not None and workers is not None:
            raise InputError("workers are local processes, dask is a cluster; choose one")
        if workers is not None:
            checks.count(workers, "workers", most=1024)
        self.workers, self.dask = workers, dask
        self._started = contextlib.ExitStack()
        self._pool: Here | Processes | Cluster | None = None

    def __enter__(self) -> Hands:
        return self

    def __exit__(self, *error: Any) -> None:
        self._pool = None
        self._started.__exit__(*error)

    def alone(self, tasks: int) -> bool:
        """Whether so many tasks are no work for others."""
        return self.dask is None and self._pool is None and (self.workers == 1 or tasks < 2)

    def started(self, tasks: int) -> Here | Processes | Cluster:
        """Return who works, started where nobody is yet; no more processes than there are tasks."""
        if self._pool is None:
            if self.dask is not None:
                self._pool = self._started.enter_context(Cluster(self.dask))
            elif self.workers == 1:
                self._pool = self._started.enter_context(Here())
            else:
                count = max(1, min(self.workers or cores(), tasks))
                self._pool = self._started.enter_context(Processes(count))
        return self._pool


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def with_version(work: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """Do some work where it is sent, and say which version of this package did it; libraries are kept to one thread."""
    with _as_in_a_worker():
        return own_version(), work(*arguments)


def carry_out(tasks: deque[Task], pool: Here | Processes | Cluster) -> None:
    """Work off the tasks; they may add others, which come first, so that few tables wait in memory."""
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    held: dict[Any, Task] = {}
    while tasks or held:
        # Fits stand in front; a table is made only where no fit is left to start.
        while tasks and pool.room(tasks[0]) and not (tasks[0].tables and _tables_wait(held, pool)):
            task = tasks.popleft()
            future = pool.submit(task)
            held[future] = task
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
                    f"the worker process died {task.attempts} times (ended by the system, perhaps for lack of memory)"
                )
        elif (error := future.exception()) is not None:
            task.fail(describe_error(error))
        else:
            task.then(future.result())


def _tables_wait(held: Mapping[Any, Task], pool: Here | Processes | Cluster) -> bool:
    """Whether a cluster already has a table in the making; local processes read as many at a time as there are."""
    return isinstance(pool, Cluster) and any(task.tables for task in held.values())
