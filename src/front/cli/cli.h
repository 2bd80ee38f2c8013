/* The shell's door: words in, text or JSON out, an exit status. */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

int cli_main(int argc, char **argv);

#endif
