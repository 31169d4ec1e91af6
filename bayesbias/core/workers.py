"""Who does the work of many tasks.

This process, local processes that may die, or a Dask cluster: each an executor of
`concurrent.futures`.
"""

import contextlib
import functools
import logging
import multiprocessing
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

from bayesbias.core import FitError, InputError, ResourceError, checks, describe_error
from bayesbias.core.errors import format_warning
from bayesbias.core.packages import needed

_DIED = (
    "the worker process died 2 times (ended by the system, perhaps for lack of memory). Give fewer "
    "workers or draws, or use a machine with more memory"
)
_ANSWER_S = 10  # how long a scheduler may take to answer
# A worker is one of many: libraries that would each take all cores for themselves get one.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


_MOST_THREADS = 4


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """Return how many threads share the work of one fit: one in a worker process."""
    alone = os.environ.get("NUMBA_NUM_THREADS") == "1"
    return 1 if alone else min(cores(), _MOST_THREADS)


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


class Task(NamedTuple):
    """One call that a worker makes, and what its caller knows it by."""

    key: Any
    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    tables: bool = False  # it reads files, which a cluster does not have


def _done_here(task: Task) -> Future[Any]:
    """Do a task in this process, at once."""
    from threadpoolctl import threadpool_limits

    future: Future[Any] = Future()
    try:
        with threadpool_limits(1):
            future.set_result(task.work(*task.arguments))
    except (KeyboardInterrupt, SystemExit):
        raise  # meant for this process, not for the task
    except BaseException as error:  # a panic of a compiled library is no Exception
        future.set_exception(error)
    return future


@contextlib.contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Start processes, and kill them at the end: finished work is on the disk."""
    of_command = warnings.formatwarning is format_warning
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _start_worker, (of_command,))
    try:
        if pool.submit(os.getpid).exception():
            raise FitError(
                "the worker processes do not start; in a script of your own, call what starts them "
                'under `if __name__ == "__main__":`, since every worker imports the script'
            )
        yield pool
    finally:
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool.shutdown(cancel_futures=True)


def _start_worker(of_command: bool) -> None:
    """Take one thread, leave Ctrl-C to the parent, and end with it however it ends.

    Warnings look as those of the command that started it.
    """
    import signal
    import threading

    from threadpoolctl import threadpool_limits

    if of_command:
        warnings.formatwarning = format_warning
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    threadpool_limits(1)  # of what the script has imported before
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler."""
    instead = "local processes (--workers)"
    distributed = needed("dask", "distributed", purpose="a Dask cluster", instead=instead)
    with _silent_log("distributed", "tornado"):
        try:
            client = distributed.Client(address, timeout=_ANSWER_S, set_as_default=False)
        except (OSError, ValueError, TypeError, OverflowError) as error:
            problem = f"expected a Dask scheduler that answers, got {describe_error(error)}"
            hint = "name its address, such as tcp://host:8786"
            raise InputError(problem, where=address, hint=hint) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=60)
            except TimeoutError:
                problem = "expected a Dask scheduler with workers, got none"
                hint = f"start one with `dask worker {address}`"
                raise InputError(problem, where=address, hint=hint) from None
            yield client


@contextlib.contextmanager
def _silent_log(*libraries: str) -> Iterator[None]:
    """Silence the logs of libraries for a while.

    A lost scheduler is one line of ours. Dask's log has a traceback of its attempts to connect.
    """
    names = set(libraries)
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] in libraries:
            names.add(name)

    levels = {}
    for name in names:
        level = logging.getLogger(name).level
        if level != logging.NOTSET or name in libraries:  # all others take that of their library
            levels[name] = level
    try:
        for name in levels:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


class Hands(contextlib.ExitStack):
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
            raise InputError(
                "expected local processes or a Dask cluster, got both", where="workers"
            )
        if workers is not None:
            checks.count(workers, "workers")
        super().__init__()
        self.workers, self.dask = workers, dask
        self._pool: Executor | None = None  # else this process does the work
        self._client: Any = None  # of a Dask cluster
        self._most = 0  # tasks at a time; none before the start

    def answers(
        self, tasks: deque[Task], expected: int = 0
    ) -> Iterator[tuple[Any, Any, BaseException | None]]:
        """Yield the key, the answer and the error of each task, as they are done.

        Others may be added meanwhile, up to a number that is expected. What was on the workers
        when one died is tried once more, in a process of its own.
        """
        if not self._most:
            wanted = max(expected, len(tasks))
            self._most = max(1, min(self.workers or cores(), wanted))
            if self.dask is not None:
                self._client = self.enter_context(_cluster(self.dask))
                self._pool = self._client.get_executor(pure=False)
            elif self.workers != 1 and (self.workers or wanted > 1):
                self._pool = self.enter_context(_processes(self._most))
        held: dict[Future[Any], Task] = {}
        while tasks or held:
            if self._client is not None:  # whose workers come and go; some tasks wait
                self._most = 2 * max(1, self._threads_of_cluster())
            while tasks and len(held) < self._most:
                task = tasks.popleft()
                held[self._submit(task)] = task
            done, _ = wait(held, timeout=5.0, return_when=FIRST_COMPLETED)
            if self._client is not None and self._client.status != "running":
                raise self._scheduler_lost()
            for future in done:
                task = held.pop(future)
                if isinstance(error := future.exception(), BrokenProcessPool):
                    with _processes(1) as alone:
                        future = alone.submit(task.work, *task.arguments)
                        error = future.exception()
                if error is None:
                    yield task.key, future.result(), None
                else:
                    died = isinstance(error, BrokenProcessPool)
                    yield task.key, None, ResourceError(_DIED) if died else error

    def _threads_of_cluster(self) -> int:
        """Return how many threads the workers of the cluster have now."""
        try:
            return sum(self._client.nthreads().values())
        except OSError:  # its connection was closed while it answered
            raise self._scheduler_lost() from None

    def _scheduler_lost(self) -> FitError:
        return FitError(
            f"the Dask scheduler at {self.dask} is gone; finished work is safe, and "
            "--resume goes on"
        )

    def _submit(self, task: Task) -> Future[Any]:
        if self._pool is None or (self._client is not None and task.tables):
            return _done_here(task)
        try:
            return self._pool.submit(task.work, *task.arguments)
        except BrokenProcessPool:  # one of them died
            self._pool = self.enter_context(_processes(self._most))
            return self._pool.submit(task.work, *task.arguments)
