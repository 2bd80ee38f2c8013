/* Putting the guide for agents into the text of AGENTS.md. */
#include "share/guide.h"

#include <stdio.h>

#define OPEN "<leslie_system_guide"
#define CLOSE "</leslie_system_guide>"

static const char block[] = OPEN
    " version=\"" GUIDE_VERSION "\" description=\"How to work in a thread that shares its work\">\n"
    "\n"
    "# Working in a thread\n"
    "\n"
    "You work in one thread of a workspace in which several people and agents work towards\n"
    "objectives. What you make are assets: files that others can read. Conversations are not "
    "shared.\n"
    "\n"
    "## What you are given\n"
    "\n"
    "A message may begin with a block such as\n"
    "\n"
    "    <thread_context thread=\"thread-a1\" objective=\"obj-b2\" "
    "relations_file=\".leslie/thread_relations.json\">\n"
    "      <asset type=\"plan\" path=\".leslie/threads/thread-a1/plan.md\" />\n"
    "      <ref thread=\"thread-c3\">\n"
    "        <asset type=\"design\" path=\".leslie/threads/thread-c3/design/\" />\n"
    "      </ref>\n"
    "    </thread_context>\n"
    "\n"
    "`thread` and `objective` are your ids. An asset directly below the root is yours: read and "
    "write\n"
    "it. An asset inside `<ref>` belongs to another thread: read it, never write it. A path that "
    "ends\n"
    "in `/` is a folder. A block `<thread_injections>` behind it holds what someone wants you to "
    "know\n"
    "now. The task follows.\n"
    "\n"
    "## Assets\n"
    "\n"
    "| type | file | for |\n"
    "|---|---|---|\n"
    "| plan | `plan.md` or `plan/` | what you are going to do |\n"
    "| progress | `progress.md` | In Progress, Completed, Blocked; always one file |\n"
    "| design | `design.md` or `design/` | decisions and interfaces |\n"
    "| learnings | `learnings/` | what others should not have to find out again |\n"
    "| transcript | `.meta/transcripts/` | written by the program; do not touch |\n"
    "\n"
    "Files in folders are called `YYYYMMDD-slug.md`.\n"
    "\n"
    "## Operations\n"
    "\n"
    "    heddle spawn --intent TEXT --objective ID --parent YOUR-THREAD --ref THREAD   a part that "
    "can be done alone\n"
    "    heddle reference --from YOUR-THREAD --target THREAD --scope design            you need "
    "another's work\n"
    "    heddle refresh --from YOUR-THREAD                                             your copies "
    "are stale\n"
    "    heddle read YOUR-THREAD NAME                                                  an asset as "
    "you may see it\n"
    "    heddle lifecycle YOUR-THREAD done --reason TEXT                               you are "
    "finished\n"
    "    heddle transfer YOUR-THREAD request_approval --scope deploy                   a person "
    "must decide\n"
    "    heddle inject THREAD TEXT --type constraint                                   tell a "
    "thread something\n"
    "\n"
    "Do not spawn what you can do in a few minutes, and do not reference a whole thread when one\n"
    "file will do.\n"
    "\n"
    "## Rules\n"
    "\n"
    "1. Take your ids from the block, not from memory.\n"
    "2. Read your plan and the referenced assets before you act.\n"
    "3. Write a plan if there is none.\n"
    "4. Update `progress.md` after every larger step, not at the end.\n"
    "5. Write only your own assets.\n"
    "6. Never edit `.leslie/*.json`: they show what the operations did.\n"
    "\n" CLOSE;

/* MAJOR.MINOR.PATCH, perhaps with a tail. */
static bool major_of(struct sv version, int64_t *major)
{
    struct sv_cut first = sv_cut(version, '.'), second = sv_cut(first.tail, '.');
    int64_t       minor, patch;
    struct sv     third = second.tail;

    for (size_t i = 0; i < third.n; i++)
        if (third.s[i] == '-' || third.s[i] == '+')
            third.n = i;
    return first.found && second.found && sv_to_int(first.head, major) &&
           sv_to_int(second.head, &minor) && sv_to_int(third, &patch) && *major >= 0;
}

/* The value of version="…" in the opening tag; a missing one counts as 0.0.0. */
static struct sv version_of(struct sv old_block)
{
    struct sv tag = sv_cut(old_block, '>').head;
    ptrdiff_t at = sv_find(tag, SV(" version=\""));

    return at < 0 ? SV("0.0.0") : sv_cut(sv_skip(tag, (size_t)at + 10), '"').head;
}

static enum status replace(struct sv old, size_t at, struct arena *a, struct guide *out,
                           struct err *e)
{
    struct sv behind = sv_skip(old, at);
    ptrdiff_t end = sv_find(behind, SV(CLOSE));
    int64_t   had = 0, has = 0;
    struct sb b = sb_in(a, 0);

    if (end < 0) {
        err_set(e, ST_INVALID_SYNTAX, "AGENTS.md opens " OPEN "> and does not close it");
        return err_hint(e, "add " CLOSE " where the block ends");
    }
    struct sv was = sv_first(behind, (size_t)end + sizeof CLOSE - 1);
    out->previous = version_of(was);
    if (!major_of(out->previous, &had))
        return err_set(e, ST_INVALID_SYNTAX, "the guide in AGENTS.md has version '" SV_FMT "'",
                       SV_ARG(out->previous));
    major_of(SV(GUIDE_VERSION), &has);
    out->major = had != has;
    out->status = sv_is(was, block) ? "unchanged" : "updated";
    sb_add(&b, sv_first(old, at));
    sb_adds(&b, block);
    sb_add(&b, sv_skip(behind, was.n));
    out->text = sb_sv(&b);
    return ST_OK;
}

enum status guide_apply(struct sv old, struct arena *a, struct guide *out, struct err *e)
{
    struct sb b = sb_in(a, 0);
    ptrdiff_t at = sv_find(old, SV(OPEN));

    *out = (struct guide){ .status = "created" };
    if (at >= 0)
        return replace(old, (size_t)at, a, out, e);
    if (sv_trim(old).n) {
        out->status = "appended";
        sb_add(&b, old);
        sb_adds(&b, sv_ends(old, SV("\n\n")) ? "" : sv_ends(old, SV("\n")) ? "\n" : "\n\n");
    }
    sb_addf(&b, "%s\n", block);
    out->text = sb_sv(&b);
    return ST_OK;
}
