# SPDX-License-Identifier: GPL-2.0-only
"""Files that root writes where others may have been before: in a folder of its own, under names that are new, so that no link of
theirs leads it elsewhere."""
import errno
import os
import secrets


class Folder:
    """A folder, which is made if it is not there. Raises OSError if it is a link, or somebody else's, or others may write there. The
    same folder is used even if its path leads elsewhere later."""

    def __init__(self, path):
        try:
            os.makedirs(path, 0o755, exist_ok=True)
            self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except (FileExistsError, NotADirectoryError):
            raise OSError(errno.ENOTDIR, "it is a link or a file: name a folder", path) from None
        found = os.fstat(self.fd)
        wrong = ("it is another user's folder" if found.st_uid != os.geteuid() else
                 "other users may write in this folder" if found.st_mode & 0o022 else None)
        if wrong:
            os.close(self.fd)
            raise OSError(errno.EPERM, f"{wrong}, who could exchange what is written: name one of your own", path)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        os.close(self.fd)

    def has(self, name):
        return name in os.listdir(self.fd)

    def rename(self, name, to):
        os.rename(name, to, src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def write(self, name, data, mode=0o644):
        """Makes the file, or exchanges it for a new one as a whole."""
        new = f".{name}.{secrets.token_hex(8)}"
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=self.fd)
        try:
            with open(fd, "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode())
            self.rename(new, name)
        except OSError:
            os.unlink(new, dir_fd=self.fd)
            raise
