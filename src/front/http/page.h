/* The page: files of web/, embedded in the program or, for development, read from a directory. */
#ifndef HEDDLE_FRONT_PAGE_H
#define HEDDLE_FRONT_PAGE_H

#include "front/http/mhd.h"

/* One file of web/, put into the program by the build (web_files.c). */
struct web_file {
    const char          *path; /* "/main.js" */
    const unsigned char *bytes, *end;
    const char          *sha256; /* in hex */
};
extern const struct web_file web_files[];
extern const size_t          web_files_n;

#endif
