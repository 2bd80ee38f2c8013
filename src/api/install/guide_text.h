/* What an agent must know to work in a thread, in some twenty lines of Markdown: the text of the
 * skill, of the block in AGENTS.md that `heddle install` writes, and of the instructions that an
 * MCP client is given. */
#ifndef HEDDLE_GUIDE_TEXT_H
#define HEDDLE_GUIDE_TEXT_H

extern const char guide_brief[];

#endif
