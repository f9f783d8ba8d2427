"""Settings files are replaced whole, keep what belongs to them, and come back byte for byte."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_proxy.editors import files
from acp_proxy.errors import EditorError

if TYPE_CHECKING:
    from collections.abc import Iterator

OLD = b"\xef\xbb\xbf{ // old\r\n}"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_a_file_is_replaced_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)

    kept = files.write(files.read(str(path)), "{}\r\n")
    assert path.read_bytes() == b"{}\r\n"
    assert Path(kept).read_bytes() == OLD

    now = files.read(str(path))
    before = files.paired(now)
    assert before is not None
    assert before.text == "\ufeff{ // old\r\n}"
    files.put_back(now, before)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("bits", [0o644, 0o600, 0o664])
def test_its_mode_stays_and_its_backup_is_private(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    path.chmod(bits)

    kept = files.write(files.read(str(path)), "{}")

    assert (mode(path), mode(Path(kept))) == (bits, 0o600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_its_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    os.chown(path, 65534, 65534)

    kept = files.write(files.read(str(path)), "{}")

    for owned in (path, Path(kept)):
        assert (owned.stat().st_uid, owned.stat().st_gid) == (65534, 65534)


def test_links_are_followed_to_the_file_itself(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "zed.json"
    real.parent.mkdir()
    real.write_bytes(OLD)
    link = tmp_path / "settings.json"
    link.symlink_to("dotfiles/zed.json")

    kept = files.write(files.read(str(link)), "{}")

    assert link.is_symlink()
    assert real.read_bytes() == b"{}"
    assert Path(kept).parent == real.parent


def test_a_file_that_was_not_there_is_private_and_goes_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "acp.json"

    files.write(files.read(str(path)), "{}")
    now = files.read(str(path))
    assert (mode(path), now.data) == (0o600, b"{}")

    before = files.paired(now)
    assert before is not None
    assert before.data is None
    files.put_back(now, before)
    assert list(path.parent.iterdir()) == []


def test_of_two_times_that_the_same_was_written_the_later_counts(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for content in (None, OLD, None, b"{ }"):
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        files.write(files.read(str(path)), "{}")

        before = files.paired(files.read(str(path)))

        assert before is not None
        assert before.data == content


def test_a_file_changed_since_has_no_pair(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    files.write(files.read(str(path)), "{}")
    path.write_text("{ }")

    now = files.read(str(path))

    assert files.paired(now) is None
    assert files.earlier(now) == [OLD.decode()]
    assert not files.was_made(now)


def test_a_file_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    old = files.read(str(path))
    path.write_text("newer")

    with pytest.raises(EditorError, match="changed meanwhile by somebody else; run this again"):
        files.write(old, "{}")

    assert path.read_text() == "newer"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_not_utf_8_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'{\n"a": "\xff"}')

    with pytest.raises(EditorError, match=r"is not UTF-8 \(line 2, byte 9 of the file\)"):
        _ = files.read(str(path)).text


def test_what_is_no_regular_file_is_told_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    for path in (tmp_path, pipe):
        with pytest.raises(EditorError, match=f"{path} is no file that could hold settings"):
            files.read(str(path))


def test_who_reads_a_file_meanwhile_gets_the_old_one_whole(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)

    with path.open("rb") as reader:
        files.write(files.read(str(path)), "{}")
        assert reader.read() == OLD


def test_on_a_full_disk_nothing_changes(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    script = (
        "import resource, sys\nfrom acp_proxy.editors import files\nfrom acp_proxy.errors import EditorError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n    files.write(files.read(sys.argv[1]), 'x' * 101)\nexcept EditorError as error:\n    print(error)"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == f"cannot write {path}: File too large; nothing was changed\n"
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def as_nobody(code: str, *arguments: str) -> str:
    """Run code as a user who may not do everything, and return what it prints."""
    script = (
        "import os, sys\nfrom acp_proxy.editors import files\nfrom acp_proxy.errors import EditorError\n"
        "if os.geteuid() == 0:\n    os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        f"try:\n    {code}\nexcept EditorError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody may reach."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve()
        yield path
        path.chmod(0o755)


def test_a_write_protected_file_is_left_alone(shared: Path) -> None:
    path = shared / "settings.json"
    path.write_bytes(OLD)
    path.chmod(0o444)
    shared.chmod(0o777)

    said = as_nobody('files.write(files.read(sys.argv[1]), "{}")', str(path))

    assert said == f"{path} is write-protected; change it by hand, or allow writing"
    assert path.read_bytes() == OLD
    assert list(shared.iterdir()) == [path]


def test_a_folder_that_takes_no_files_is_told(shared: Path) -> None:
    path = shared / "settings.json"
    path.write_bytes(OLD)
    path.chmod(0o666)
    shared.chmod(0o555)

    said = as_nobody('files.write(files.read(sys.argv[1]), "{}")', str(path))

    assert said == f"cannot write {path}: Permission denied; nothing was changed"
    assert path.read_bytes() == OLD


def test_who_comes_too_late_leaves_the_backup_of_who_was_first(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    seen_by_both = files.read(str(path))
    files.write(seen_by_both, "{}")

    with pytest.raises(EditorError, match="changed meanwhile by somebody else; run this again"):
        files.write(seen_by_both, "{}")

    before = files.paired(files.read(str(path)))
    assert before is not None
    assert before.data == OLD


def test_two_at_once_do_not_both_change_a_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)  # another acp-proxy is at work

    with pytest.raises(EditorError, match="changed meanwhile by somebody else; run this again"):
        files.write(files.read(str(path)), "{}")

    os.close(folder)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]
    files.write(files.read(str(path)), "{}")
    assert path.read_bytes() == b"{}"


def test_an_editor_that_saves_at_the_last_moment_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    sync = os.fsync

    def saved_meanwhile(descriptor: int) -> None:
        sync(descriptor)
        if os.fstat(descriptor).st_size == len("{}"):  # what is to take its place
            path.write_text("newer")

    old = files.read(str(path))
    monkeypatch.setattr(os, "fsync", saved_meanwhile)  # the longest moment of all
    with pytest.raises(EditorError, match="changed meanwhile by somebody else"):
        files.write(old, "{}")

    assert path.read_text() == "newer"
    assert list(tmp_path.iterdir()) == [path]


def test_who_is_interrupted_after_the_file_is_there_keeps_the_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    replace = os.replace

    def interrupted(source: str, target: str) -> None:
        replace(source, target)
        if target == str(path):
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write(files.read(str(path)), "{}")

    before = files.paired(files.read(str(path)))
    assert before is not None
    assert before.data == OLD


def test_a_folder_that_takes_files_and_does_not_show_them_is_no_trouble(shared: Path) -> None:
    path = shared / "settings.json"
    path.write_bytes(OLD)
    path.chmod(0o666)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    shared.chmod(0o333)

    said = as_nobody('print(files.write(files.read(sys.argv[1]), "{}"))', str(path))

    assert path.read_bytes() == b"{}"
    assert Path(said).read_bytes() == OLD


def test_a_file_with_a_second_name_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    (tmp_path / "dotfile").hardlink_to(path)

    with pytest.raises(EditorError, match=r"has another name \(a hard link\).* change it by hand"):
        files.write(files.read(str(path)), "{}")

    assert path.read_bytes() == OLD
    assert path.samefile(tmp_path / "dotfile")


def access_list(group: int, mask: int, *others: tuple[int, int]) -> bytes:
    """Return a list as Linux keeps it: rights of the owner, others by number, the group, the mask."""
    nobody = 0xFFFFFFFF
    entries = [(1, 6, nobody), *((2, bits, who) for who, bits in others), (4, group, nobody)]
    entries += [(16, mask, nobody), (32, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@pytest.mark.skipif(sys.platform != "linux", reason="access lists are attributes on Linux only")
def test_who_may_read_a_file_by_its_access_list_and_who_not_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    listed = access_list(0, 4, (12345, 4))
    try:
        os.setxattr(path, "system.posix_acl_access", listed)
        os.setxattr(tmp_path, "system.posix_acl_default", access_list(0, 7, (54321, 7)))
    except OSError as error:
        pytest.skip(f"this file system has no access lists: {error.strerror}")

    files.write(files.read(str(path)), "{}")

    assert path.read_bytes() == b"{}"
    assert mode(path) == 0o640
    assert os.getxattr(path, "system.posix_acl_access") == listed
    now = files.read(str(path))
    before = files.paired(now)
    assert before is not None
    files.put_back(now, before)
    assert os.getxattr(path, "system.posix_acl_access") == listed
