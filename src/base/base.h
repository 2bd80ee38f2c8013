/* Macros over compiler attributes that every file uses. Nothing here has state. */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define UNDO(fn) __attribute__((cleanup(fn))) /* run fn(&var) when var leaves its scope */
#define INLINE                                                                                     \
    static inline __attribute__((always_inline)) /* only where a measurement shows a gain          \
                                                  */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
