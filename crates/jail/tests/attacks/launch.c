// Says that an attack begins, and becomes it. The first word is a path, so that no shell takes its place.
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 2) return 2;
    puts("begun");
    fflush(stdout);
    execv(words[1], words + 1);
    perror(words[1]);
    return 127;
}
