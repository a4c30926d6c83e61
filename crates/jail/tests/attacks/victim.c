// victim --token=SECRET OUTSIDE: a process of the same user, as there are many beside an agent: an agent of keys, a
// database, a bus. It has the secret in its words, its environment, its memory and its files, and tells it at every door.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define KEY 0x45584143

static char secret[64];
static const char *outside;

static void note(const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/log", outside);
    int log = open(path, O_WRONLY | O_APPEND);
    if (log >= 0 && write(log, text, strlen(text)) < 0) perror("log");
    close(log);
}

static void signalled(int number) {
    (void)number;
    note("signalled\n");
}

static int unix_door(int type, const char *name, int nameless) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path + nameless, name, sizeof address.sun_path - 2);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + nameless + strlen(name);
    int door = socket(AF_UNIX, type, 0);
    if (bind(door, (void *)&address, size)) perror(name), exit(1);
    if (type != SOCK_DGRAM && listen(door, 16)) perror(name), exit(1);
    return door;
}

static int internet_door(int type, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    int door = socket(AF_INET, type, 0);
    if (bind(door, (void *)&address, sizeof address)) perror("bind"), exit(1);
    if (type == SOCK_STREAM && listen(door, 16)) perror("listen"), exit(1);
    return door;
}

static int own_file(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", outside, name);
    return open(path, O_RDONLY);
}

static void hand_over(int guest) {
    int file = own_file("secret");
    char space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec words = {"x", 1};
    struct msghdr message = {
        .msg_iov = &words, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &file, sizeof file);
    if (sendmsg(guest, &message, MSG_NOSIGNAL) < 0) perror("sendmsg");
    close(file);
}

static void share(void) {
    int segment = shmget(KEY, 4096, IPC_CREAT | 0666);
    char *memory = segment < 0 ? NULL : shmat(segment, NULL, 0);
    if (memory && memory != (void *)-1) strcpy(memory, secret);
    struct { long type; char text[64]; } letter = {1, ""};
    strcpy(letter.text, secret);
    int queue = msgget(KEY, IPC_CREAT | 0666);
    for (int i = 0; i < 4; i++) msgsnd(queue, &letter, sizeof letter.text, IPC_NOWAIT);
    semctl(semget(KEY, 1, IPC_CREAT | 0666), 0, SETVAL, 7);
    mqd_t box = mq_open("/exacta-victim", O_CREAT | O_WRONLY, 0666, NULL);
    if (box != (mqd_t)-1) mq_send(box, secret, strlen(secret) + 1, 0);
}

static void serve(int door, int kind) {
    char words[256];
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    if (kind == 'd') {
        ssize_t count = recvfrom(door, words, sizeof words, 0, (void *)&from, &size);
        note("datagram\n");
        if (count >= 0 && size > 2) sendto(door, secret, strlen(secret), MSG_NOSIGNAL, (void *)&from, size);
        return;
    }
    int guest = accept(door, NULL, NULL);
    if (kind == 'p') hand_over(guest);
    if (kind != 'p' && send(guest, secret, strlen(secret), MSG_NOSIGNAL) < 0) perror("send");
    close(guest);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    strncpy(secret, words[1] + strlen("--token="), sizeof secret - 1);
    outside = words[2];
    if (chdir(outside)) return 1;
    umask(0);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    prctl(PR_SET_NAME, "exacta-victim");
    signal(SIGUSR1, signalled);
    signal(SIGCHLD, SIG_IGN);
    own_file("secret");
    own_file("directory");
    share();
    const char kinds[] = "ssssdqpsd";
    char absolute[4096];
    snprintf(absolute, sizeof absolute, "%s/../project/sub/service", outside);
    struct pollfd doors[] = {
        {.fd = unix_door(SOCK_STREAM, "socket", 0), .events = POLLIN},
        {.fd = unix_door(SOCK_STREAM, "../project/service", 0), .events = POLLIN},
        {.fd = unix_door(SOCK_STREAM, absolute, 0), .events = POLLIN},
        {.fd = unix_door(SOCK_STREAM, "exacta-victim", 1), .events = POLLIN},
        {.fd = unix_door(SOCK_DGRAM, "exacta-victim-letters", 1), .events = POLLIN},
        {.fd = unix_door(SOCK_SEQPACKET, "exacta-victim-packets", 1), .events = POLLIN},
        {.fd = unix_door(SOCK_STREAM, "passing", 0), .events = POLLIN},
        {.fd = internet_door(SOCK_STREAM, 7001), .events = POLLIN},
        {.fd = internet_door(SOCK_DGRAM, 7002), .events = POLLIN},
    };
    int number = sizeof doors / sizeof *doors;
    puts("ready");
    fflush(stdout);
    for (;;) {
        if (poll(doors, number, -1) < 0) continue;
        for (int i = 0; i < number; i++)
            if (doors[i].revents) serve(doors[i].fd, kinds[i]);
    }
}
