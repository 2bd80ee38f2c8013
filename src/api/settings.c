/* Reading the two files of settings. */
#include "api/settings.h"

#include "api/user_file.h"
#include "base/utf8.h"

enum status settings_of_user(const struct workspace *ws, struct arena *a, struct json *out,
                             struct err *e)
{
    struct sv text;

    *out = (struct json){ 0 };
    if (user_file_read(ws, USER_CONFIG, a, &text, e))
        return err_code(e);
    return text.s ? config_read(utf8_skip_bom(text), CONFIG_OF_USER,
                                user_file_path(ws, USER_CONFIG, a), a, out, e)
                  : ST_OK;
}

enum status settings_of_workspace(const struct workspace *ws, struct arena *a, struct sv *text,
                                  struct json *out, struct err *e)
{
    enum status s = fs_read(ws->root_fd, SETTINGS_FILE, SETTINGS_BYTES_MAX, a, text, e);

    *out = (struct json){ 0 };
    if (s == ST_NOT_FOUND) {
        *text = (struct sv){ 0 };
        return ST_OK;
    }
    return s ? s : config_read(utf8_skip_bom(*text), CONFIG_OF_WORKSPACE, SETTINGS_FILE, a, out, e);
}
