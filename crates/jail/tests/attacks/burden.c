// burden OUTSIDE SECRET PROGRAM [WORD...]: becomes the program with all that a caller of exacta may have about it: a
// terminal, keys, files and sockets that nobody closes, a secret in the environment, and privileges kept for later.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void keep(int descriptor, int number) {
    if (descriptor >= 0) dup2(descriptor, number), close(descriptor);
}

static int connected(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int door = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(door, (void *)&address, sizeof address) ? -1 : door;
}

int main(int count, char **words) {
    if (count < 4) return 2;
    char path[4096];
    setsid();
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master >= 0 && !grantpt(master) && !unlockpt(master)) {
        int slave = open(ptsname(master), O_RDWR);
        if (slave >= 0) {
            ioctl(slave, TIOCSCTTY, 0);
            keep(slave, 0);
        }
        keep(master, 40);
    }
    snprintf(path, sizeof path, "%s/secret", words[1]);
    keep(open(path, O_RDONLY), 41);
    keep(open(words[1], O_RDONLY | O_DIRECTORY), 42);
    keep(open("/", O_PATH | O_DIRECTORY), 43);
    snprintf(path, sizeof path, "%s/log", words[1]);
    keep(open(path, O_WRONLY | O_APPEND), 44);
    snprintf(path, sizeof path, "%s/socket", words[1]);
    keep(connected(path), 45);
    int memory = memfd_create("secret", 0);
    if (memory >= 0 && write(memory, words[2], strlen(words[2])) > 0) keep(memory, 46);
    keep(open("/proc/self/ns/mnt", O_RDONLY), 47);
    keep(syscall(SYS_pidfd_open, atoi(getenv("VICTIM")), 0), 48);
    setenv("CALLER_TOKEN", words[2], 1);
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
        syscall(SYS_add_key, "user", "exacta-key", words[2], strlen(words[2]), KEY_SPEC_SESSION_KEYRING);
    execv(words[3], words + 3);
    perror(words[3]);
    return 127;
}
