/* SPDX-License-Identifier: MIT
 * Packs values by a format that allows JSON text. Recursive over the format; the nesting is that of
 * the format, which is a constant of the plugin. */
#include "plugin/instance/services_json.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 32
#define IGNORED " \t\n,:"

struct json_packer {
    const char *at;
    va_list *ap;
    char *why;
    unsigned depth;
};

static json_t *services_json_fail(struct json_packer *p, const char *why)
{
    snprintf(p->why, SERVICES_JSON_WHY, "%s", why);
    return NULL;
}

static char services_json_next(struct json_packer *p)
{
    p->at += strspn(p->at, IGNORED);
    return *p->at ? *p->at++ : '\0';
}

static json_t *services_json_text(struct json_packer *p)
{
    json_error_t error;
    const char *const text = va_arg(*p->ap, const char *);
    json_t *const value = text ? json_loads(text, JSON_DECODE_ANY, &error) : json_null();
    return value ? value : services_json_fail(p, "the text for j is not valid JSON");
}

static json_t *services_json_string(struct json_packer *p)
{
    const char *const text = va_arg(*p->ap, const char *);
    const char mark = *p->at;
    p->at += mark == '?' || mark == '*';
    if (!text)
        return mark == '?' || mark == '*' ? json_null() : services_json_fail(p, "a string is NULL");
    json_t *const value = json_string(text);
    return value ? value : services_json_fail(p, "a string is not UTF-8");
}

static json_t *services_json_value(struct json_packer *p, char kind);

/* s* of NULL; the s was read already. */
static bool services_json_is_left_out(const struct json_packer *p, char kind, const json_t *value)
{
    return kind == 's' && p->at[-1] == '*' && json_is_null(value);
}

static int services_json_member(struct json_packer *p, json_t *object)
{
    const char *const key = va_arg(*p->ap, const char *);
    const char kind = services_json_next(p);
    json_t *const value =
        key ? services_json_value(p, kind) : services_json_fail(p, "a key is NULL");
    if (!value)
        return -1;
    if (services_json_is_left_out(p, kind, value)) {
        json_decref(value);
        return 0;
    }
    return json_object_set_new(object, key, value);
}

static json_t *services_json_object(struct json_packer *p)
{
    json_t *const object = json_object();
    for (char kind; (kind = services_json_next(p)) != '}';)
        if (kind != 's' || services_json_member(p, object) < 0) {
            json_decref(object);
            return kind == 's' ? NULL : services_json_fail(p, "a key must be s");
        }
    return object;
}

static int services_json_splice(struct json_packer *p, json_t *array)
{
    json_t *const more = services_json_text(p);
    const int rc = json_is_null(more) ? 0 : json_array_extend(array, more);
    if (more && rc < 0)
        services_json_fail(p, "the text for j* is not an array");
    json_decref(more);
    return more ? rc : -1;
}

static int services_json_element(struct json_packer *p, json_t *array, char kind)
{
    if (kind == 'j' && *p->at == '*') {
        p->at++;
        return services_json_splice(p, array);
    }
    json_t *const value = services_json_value(p, kind);
    if (value && services_json_is_left_out(p, kind, value)) {
        json_decref(value);
        return 0;
    }
    return value ? json_array_append_new(array, value) : -1;
}

static json_t *services_json_array(struct json_packer *p)
{
    json_t *const array = json_array();
    for (char kind; (kind = services_json_next(p)) != ']';)
        if (services_json_element(p, array, kind) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *services_json_container(struct json_packer *p, char kind)
{
    if (++p->depth > DEPTH_MAX)
        return services_json_fail(p, "the format is nested too deeply");
    json_t *const value = kind == '{' ? services_json_object(p) : services_json_array(p);
    p->depth--;
    return value;
}

static json_t *services_json_value(struct json_packer *p, char kind)
{
    switch (kind) {
    case '{':
    case '[':
        return services_json_container(p, kind);
    case 's':
        return services_json_string(p);
    case 'j':
        return services_json_text(p);
    case 'i':
        return json_integer(va_arg(*p->ap, int));
    case 'I':
        return json_integer(va_arg(*p->ap, json_int_t));
    case 'b':
        return json_boolean(va_arg(*p->ap, int));
    case 'f':
        return json_real(va_arg(*p->ap, double));
    case 'n':
        return json_null();
    default:
        return services_json_fail(p, "the format has a letter that cannot stand beside j");
    }
}

json_t *services_json_pack(const char *fmt, va_list ap, char *why)
{
    if (!strchr(fmt, 'j')) {
        json_error_t error;
        json_t *const value = json_vpack_ex(&error, 0, fmt, ap);
        if (!value)
            snprintf(why, SERVICES_JSON_WHY, "%s", error.text);
        return value;
    }
    va_list copy;
    va_copy(copy, ap);
    struct json_packer p = {.at = fmt, .ap = &copy, .why = why};
    json_t *const value = services_json_value(&p, services_json_next(&p));
    va_end(copy);
    if (value && services_json_next(&p)) {
        json_decref(value);
        return services_json_fail(&p, "the format has more text after its value");
    }
    return value;
}
