/* SPDX-License-Identifier: MIT
 * Block-level callbacks: headings, lists, quotes, code, tables. */
#include <stdio.h>

#include "text/markdown/markdown.h"
#include "text/markdown/markdown_internal.h"

#define INDENT_MAX 8 /* indentation limit in levels */
#define LANGUAGE_MAX 20

static struct markdown_list *innermost_list(struct markdown_parser *p)
{
    return &p->lists[p->list_depth < LISTS_MAX ? p->list_depth : LISTS_MAX];
}

void markdown_append(struct markdown_parser *p, const char *text, size_t n)
{
    if (n == 0)
        return;
    p->behind_marker = false;
    p->labelled = true;
    if (p->in_table)
        buf_add(&p->table.text, text, n);
    else
        doc_builder_text(&p->out, text, n);
}

void markdown_append_str(struct markdown_parser *p, const char *text)
{
    markdown_append(p, text, strlen(text));
}

/* Begins a block: separated from the previous one, or on the line of its list marker. */
static void markdown_block_part(struct markdown_parser *p, bool may_follow_marker)
{
    const struct markdown_list *list = innermost_list(p);
    if (!p->behind_marker)
        doc_builder_break(&p->out, list->tight ? 1 : 2);
    else if (!may_follow_marker)
        doc_builder_break(&p->out, 1);
    p->behind_marker = false;
}

/* The language of a code block if it is a short word, as services and fences require; otherwise
 * none. */
static const char *markdown_block_code_language(struct markdown_parser *p, const MD_ATTRIBUTE *a)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "+-#._";
    if (a->size == 0 || a->size > LANGUAGE_MAX)
        return "";
    const char *word = arena_strndup(p->out.arena, a->text, a->size);
    return strspn(word, allowed) == a->size ? word : "";
}

static void enter_list(struct markdown_parser *p, struct markdown_list list)
{
    if (!p->behind_marker)
        doc_builder_break(&p->out, p->list_depth > 0 ? 1 : 2);
    p->list_depth++;
    *innermost_list(p) = list;
}

static void enter_bullets(struct markdown_parser *p, const void *detail)
{
    const MD_BLOCK_UL_DETAIL *ul = detail;
    enter_list(p, (struct markdown_list){.tight = ul->is_tight, .delimiter = ul->mark});
}

static void enter_numbers(struct markdown_parser *p, const void *detail)
{
    const MD_BLOCK_OL_DETAIL *ol = detail;
    enter_list(p, (struct markdown_list){true, ol->is_tight, ol->mark_delimiter, ol->start});
}

static void leave_list(struct markdown_parser *p)
{
    p->list_depth--;
}

/* Formats the marker as Markdown writes it: "- ", "3. ", "- [x] ". */
static const char *source_marker(struct markdown_parser *p, const MD_BLOCK_LI_DETAIL *li,
                                 struct markdown_list *list)
{
    const char *task = !li->is_task ? "" : li->task_mark == ' ' ? "[ ] " : "[x] ";
    if (!list->ordered)
        return arena_sprintf(p->out.arena, "- %s", task);
    return arena_sprintf(p->out.arena, "%u%c %s", list->next, list->delimiter, task);
}

static void put_marker(struct markdown_parser *p, const MD_BLOCK_LI_DETAIL *li)
{
    char number[16];
    struct markdown_list *list = innermost_list(p);
    const unsigned level = p->list_depth < INDENT_MAX ? p->list_depth : INDENT_MAX;
    doc_builder_open(&p->out, DOC_MARKER, level, source_marker(p, li, list));
    if (!p->behind_marker)
        doc_builder_repeat(&p->out, ' ', 2 * (size_t)(level - 1));
    snprintf(number, sizeof number, "%u%c ", list->next, list->delimiter);
    if (list->ordered)
        markdown_append_str(p, number);
    if (li->is_task)
        markdown_append_str(p, li->task_mark == ' ' ? "☐ " : "☑ ");
    else if (!list->ordered)
        markdown_append_str(p, "• ");
    doc_builder_close(&p->out);
    list->next++;
}

static void enter_item(struct markdown_parser *p, const void *detail)
{
    const MD_BLOCK_LI_DETAIL *li = detail;
    if (!p->behind_marker)
        doc_builder_break(&p->out, innermost_list(p)->tight ? 1 : 2);
    doc_builder_open(&p->out, DOC_ITEM, 0, NULL);
    put_marker(p, li);
    p->behind_marker = true;
}

static void enter_code(struct markdown_parser *p, const void *detail)
{
    const MD_BLOCK_CODE_DETAIL *code = detail;
    markdown_block_part(p, false);
    doc_builder_open(&p->out, DOC_PRE, 0, markdown_block_code_language(p, &code->lang));
    p->in_code_block = true;
    p->code_newlines = 0;
}

static void leave_code(struct markdown_parser *p)
{
    p->in_code_block = false;
    doc_builder_close(&p->out);
}

static void put_rule(struct markdown_parser *p, const void *detail)
{
    (void)detail;
    markdown_block_part(p, false);
    doc_builder_open(&p->out, DOC_RULE, 0, NULL);
    markdown_append_str(p, "———");
    doc_builder_close(&p->out);
}

static void enter_table(struct markdown_parser *p, const void *detail)
{
    const MD_BLOCK_TABLE_DETAIL *table = detail;
    if (p->behind_marker)
        doc_builder_break(&p->out, 1);
    else
        doc_builder_break(&p->out, 2);
    p->behind_marker = false;
    text_table_begin(&p->table, table->col_count);
    p->in_table = true;
}

static void leave_table(struct markdown_parser *p)
{
    p->in_table = false;
    text_table_build(&p->table, &p->out);
    doc_builder_break(&p->out, 2);
}

static void enter_cell(struct markdown_parser *p, const void *detail)
{
    const MD_BLOCK_TD_DETAIL *cell = detail;
    text_table_add_cell(&p->table, cell->align == MD_ALIGN_RIGHT    ? TABLE_RIGHT
                                   : cell->align == MD_ALIGN_CENTER ? TABLE_CENTER
                                                                    : TABLE_LEFT);
}

/* Checks the limits; any event may be the last. */
int markdown_count_event(struct markdown_parser *p)
{
    return ++p->events > MARKDOWN_EVENTS_MAX || doc_builder_is_full(&p->out) ||
           p->table.text.len > BUILDER_TEXT_MAX;
}

static void enter_heading(struct markdown_parser *p, const void *detail)
{
    markdown_block_part(p, true);
    doc_builder_open(&p->out, DOC_HEADING, ((const MD_BLOCK_H_DETAIL *)detail)->level, NULL);
}

/* The quote begins with its first block. */
static void enter_quote(struct markdown_parser *p, const void *detail)
{
    (void)detail;
    markdown_block_part(p, true);
    doc_builder_open(&p->out, DOC_QUOTE, 0, NULL);
    p->behind_marker = true;
}

static void enter_paragraph(struct markdown_parser *p, const void *detail)
{
    (void)detail;
    markdown_block_part(p, true);
}

static void leave_container(struct markdown_parser *p)
{
    p->behind_marker = false;
    doc_builder_close(&p->out);
}

static void leave_heading(struct markdown_parser *p)
{
    doc_builder_close(&p->out);
}

static const struct {
    void (*enter)(struct markdown_parser *p, const void *detail);
    void (*leave)(struct markdown_parser *p);
} blocks[] = {
    [MD_BLOCK_QUOTE] = {enter_quote, leave_container},
    [MD_BLOCK_UL] = {enter_bullets, leave_list},
    [MD_BLOCK_OL] = {enter_numbers, leave_list},
    [MD_BLOCK_LI] = {enter_item, leave_container},
    [MD_BLOCK_HR] = {put_rule, NULL},
    [MD_BLOCK_H] = {enter_heading, leave_heading},
    [MD_BLOCK_CODE] = {enter_code, leave_code},
    [MD_BLOCK_P] = {enter_paragraph, NULL},
    [MD_BLOCK_TABLE] = {enter_table, leave_table},
    [MD_BLOCK_TH] = {enter_cell, NULL},
    [MD_BLOCK_TD] = {enter_cell, NULL},
};

static bool markdown_block_is_known(MD_BLOCKTYPE type)
{
    return (size_t)type < sizeof blocks / sizeof blocks[0];
}

/* The text of a tight item is no block, so its open spans end here, too. */
int markdown_enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct markdown_parser *p = arg;
    markdown_close_inlines(p, 0);
    if (markdown_block_is_known(type) && blocks[type].enter)
        blocks[type].enter(p, detail);
    return markdown_count_event(p);
}

int markdown_enter_leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct markdown_parser *p = arg;
    (void)detail;
    markdown_close_inlines(p, 0);
    if (markdown_block_is_known(type) && blocks[type].leave)
        blocks[type].leave(p);
    return markdown_count_event(p);
}
