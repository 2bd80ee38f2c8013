#!/bin/sh
# How the page looks: every screen, light and dark, wide and narrow, read by axe.
# asan: no
# postgres: no, the page calls operations, which know no store; page_ops.sh has those it was given
HEDDLE_PAGE_ONLY=look
# shellcheck source=tests/e2e/page.sh
. "$(dirname "$0")/page.sh"
