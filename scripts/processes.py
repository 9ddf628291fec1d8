# SPDX-License-Identifier: GPL-2.0-only
"""Children of a script, each the leader of a session: none runs for too long, none is left behind."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


def kill_session(leader):
    """Kill all that a child started, whatever process groups it is in."""
    subprocess.run(["pkill", "-KILL", "--session", str(leader)])


def run_for(timeout, command, said, env=None):
    """Run a command for so many seconds at most; its exit status, and whether it had to be killed.

    What it says goes to the file said.
    """
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.STDOUT,
        env=env,
        start_new_session=True,
    )
    timed_out = False
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        if process.poll() is None:
            kill_session(process.pid)
            process.wait()
    return process.returncode, timed_out


@contextmanager
def at_once(number):
    """Threads that wait for so many children at a time; who leaves by an exception, as Ctrl-C is, kills them."""
    with ThreadPoolExecutor(number) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            children = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True)
            for child in children.stdout.split():
                kill_session(child)
            raise
