/* Signals that end an operation. */
#include "front/cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

/* Static, because a signal handler has no other way to reach them. */
static atomic_bool      wanted;
static struct sigaction before[2];
static const int        numbers[2] = { SIGINT, SIGTERM };

static void on_signal(int number)
{
    if (!atomic_exchange(&wanted, true))
        return;
    signal(number, SIG_DFL);
    raise(number);
}

const atomic_bool *interrupt_begin(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    wanted = false;
    for (size_t i = 0; i < 2; i++) {
        if (sigaction(numbers[i], NULL, &before[i]) != 0 || before[i].sa_handler == SIG_IGN)
            continue;
        sigaction(numbers[i], &action, NULL);
    }
    return &wanted;
}

bool interrupt_end(void)
{
    for (size_t i = 0; i < 2; i++)
        sigaction(numbers[i], &before[i], NULL);
    return wanted;
}

void interrupt_now(void)
{
    wanted = true;
}
