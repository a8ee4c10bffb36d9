/* What the supervisor tells the process that was asked to run the command. */

#ifndef FRONT_H
#define FRONT_H
#include "journal.h"

enum what { STARTED, STOPPED, ENDED, FAILED };
struct message {
    enum what what;
    int value; /* a process, a signal, a status, an exit code */
};
_Noreturn void front(int supervisor);
_Noreturn void end_like(int status);

#endif
