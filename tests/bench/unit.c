// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the compile workload compiles: code as programs have it, of several
 * kinds, that needs no library and takes the compiler about a tenth of a
 * second. It is never run.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Memory that is given back all at once */

#define ARENA_SIZE	(1 << 20)

struct arena {
	size_t used;
	unsigned char bytes[ARENA_SIZE];
};

static void *arena_alloc(struct arena *arena, size_t size)
{
	void *area;

	size = (size + 15) & ~(size_t)15;
	if (size > ARENA_SIZE - arena->used)
		return NULL;
	area = arena->bytes + arena->used;
	arena->used += size;
	return area;
}

void arena_reset(struct arena *arena)
{
	arena->used = 0;
}

/* Strings that grow */

struct string {
	struct arena *arena;
	char *text;
	size_t length, room;
};

static int string_reserve(struct string *string, size_t more)
{
	size_t room = string->room ? string->room : 32;
	char *text;

	if (string->room - string->length > more)
		return 0;
	while (room - string->length <= more)
		room *= 2;
	text = arena_alloc(string->arena, room);
	if (!text)
		return -1;
	if (string->length)
		memcpy(text, string->text, string->length);
	text[string->length] = 0;
	string->text = text;
	string->room = room;
	return 0;
}

int string_add(struct string *string, const char *text, size_t length)
{
	if (string_reserve(string, length))
		return -1;
	memcpy(string->text + string->length, text, length);
	string->length += length;
	string->text[string->length] = 0;
	return 0;
}

int string_add_number(struct string *string, int64_t number, unsigned int base)
{
	uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char digits[66];
	size_t at = sizeof(digits);

	if (base < 2 || base > 36)
		return -1;
	do {
		digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[rest % base];
		rest /= base;
	} while (rest);
	if (number < 0)
		digits[--at] = '-';
	return string_add(string, digits + at, sizeof(digits) - at);
}

/* A hash table from names to numbers, with open addressing */

struct entry {
	const char *name;
	uint32_t hash;
	double value;
};

struct table {
	struct arena *arena;
	struct entry *entries;
	size_t count, room;	/* room: a power of 2 */
};

static uint32_t hash_name(const char *name, size_t length)
{
	uint32_t hash = 0x9e3779b9;

	while (length--) {
		hash ^= (unsigned char)*name++;
		hash *= 0x85ebca6b;
		hash ^= hash >> 15;
	}
	return hash;
}

static struct entry *table_slot(const struct table *table, const char *name,
				size_t length, uint32_t hash)
{
	size_t i, mask = table->room - 1;
	struct entry *entry;

	for (i = hash & mask;; i = (i + 1) & mask) {
		entry = &table->entries[i];
		if (!entry->name)
			return entry;
		if (entry->hash == hash && !entry->name[length] &&
		    !memcmp(entry->name, name, length))
			return entry;
	}
}

static int table_grow(struct table *table)
{
	struct entry *old = table->entries, *entry;
	size_t i, room = table->room;

	table->room = room ? 2 * room : 16;
	table->entries = arena_alloc(table->arena,
				     table->room * sizeof(*table->entries));
	if (!table->entries) {
		table->entries = old;
		table->room = room;
		return -1;
	}
	memset(table->entries, 0, table->room * sizeof(*table->entries));
	for (i = 0; i < room; i++) {
		if (!old[i].name)
			continue;
		entry = table_slot(table, old[i].name, strlen(old[i].name),
				   old[i].hash);
		*entry = old[i];
	}
	return 0;
}

int table_set(struct table *table, const char *name, size_t length,
	      double value)
{
	uint32_t hash = hash_name(name, length);
	struct entry *entry;
	char *copy;

	if (4 * table->count >= 3 * table->room && table_grow(table))
		return -1;
	entry = table_slot(table, name, length, hash);
	if (!entry->name) {
		copy = arena_alloc(table->arena, length + 1);
		if (!copy)
			return -1;
		memcpy(copy, name, length);
		copy[length] = 0;
		entry->name = copy;
		entry->hash = hash;
		table->count++;
	}
	entry->value = value;
	return 0;
}

int table_get(const struct table *table, const char *name, size_t length,
	      double *value)
{
	const struct entry *entry;

	if (!table->room)
		return -1;
	entry = table_slot(table, name, length, hash_name(name, length));
	if (!entry->name)
		return -1;
	*value = entry->value;
	return 0;
}

int table_print(const struct table *table, struct string *string)
{
	const struct entry *entry = table->entries;
	size_t i;

	for (i = 0; i < table->room; i++, entry++) {
		if (!entry->name)
			continue;
		if (string_add(string, entry->name, strlen(entry->name)) ||
		    string_add(string, " = ", 3) ||
		    string_add_number(string, entry->value, 10) ||
		    string_add(string, "\n", 1))
			return -1;
	}
	return 0;
}

/* Expressions: numbers, names, + - * /, brackets */

struct parser {
	const char *at;
	struct table *names;
	const char *error;
	int depth;
};

static double parse_binary(struct parser *parser, int level);

static void skip_blanks(struct parser *parser)
{
	while (*parser->at == ' ' || *parser->at == '\t')
		parser->at++;
}

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int accept(struct parser *parser, char c)
{
	skip_blanks(parser);
	if (*parser->at != c)
		return 0;
	parser->at++;
	return 1;
}

static double parse_number(struct parser *parser)
{
	double value = 0, unit = 1;

	while (is_digit(*parser->at))
		value = 10 * value + (*parser->at++ - '0');
	if (*parser->at != '.')
		return value;
	for (parser->at++; is_digit(*parser->at); parser->at++) {
		unit /= 10;
		value += unit * (*parser->at - '0');
	}
	return value;
}

static double parse_name(struct parser *parser)
{
	const char *name = parser->at;
	double value = 0;

	while (is_letter(*parser->at) || is_digit(*parser->at))
		parser->at++;
	if (table_get(parser->names, name, parser->at - name, &value))
		parser->error = "unknown name";
	return value;
}

static double parse_factor(struct parser *parser)
{
	double value = 0;

	skip_blanks(parser);
	if (++parser->depth > 100) {
		parser->error = "too deep";
	} else if (accept(parser, '-')) {
		value = -parse_factor(parser);
	} else if (accept(parser, '(')) {
		value = parse_binary(parser, 0);
		if (!accept(parser, ')') && !parser->error)
			parser->error = "')' expected";
	} else if (is_digit(*parser->at)) {
		value = parse_number(parser);
	} else if (is_letter(*parser->at)) {
		value = parse_name(parser);
	} else {
		parser->error = "value expected";
	}
	parser->depth--;
	return value;
}

/* The operators of each level bind tighter than those of the one before */
static double parse_binary(struct parser *parser, int level)
{
	static const char operators[][3] = { "+-", "*/" };
	double value, other;
	char operator;

	if (level == 2)
		return parse_factor(parser);
	value = parse_binary(parser, level + 1);
	while (!parser->error) {
		skip_blanks(parser);
		operator = *parser->at;
		if (!accept(parser, operators[level][0]) &&
		    !accept(parser, operators[level][1]))
			break;
		other = parse_binary(parser, level + 1);
		switch (operator) {
		case '+':
			value += other;
			break;
		case '-':
			value -= other;
			break;
		case '*':
			value *= other;
			break;
		case '/':
			value /= other;
			break;
		}
	}
	return value;
}

int evaluate(const char *text, struct table *names, double *value,
	     const char **error)
{
	struct parser parser = { .at = text, .names = names };

	*value = parse_binary(&parser, 0);
	skip_blanks(&parser);
	if (!parser.error && *parser.at)
		parser.error = "end expected";
	*error = parser.error;
	return parser.error ? -1 : 0;
}

/* Matrices */

struct matrix {
	size_t rows, columns;
	double *cells;		/* row by row */
};

int matrix_new(struct matrix *matrix, struct arena *arena, size_t rows,
	       size_t columns)
{
	size_t size = rows * columns * sizeof(*matrix->cells);

	matrix->rows = rows;
	matrix->columns = columns;
	matrix->cells = arena_alloc(arena, size);
	if (!matrix->cells)
		return -1;
	memset(matrix->cells, 0, size);
	return 0;
}

int matrix_multiply(const struct matrix *a, const struct matrix *b,
		    struct matrix *product)
{
	size_t i, j, k;
	double sum;

	if (a->columns != b->rows || product->rows != a->rows ||
	    product->columns != b->columns)
		return -1;
	for (i = 0; i < a->rows; i++) {
		for (j = 0; j < b->columns; j++) {
			sum = 0;
			for (k = 0; k < b->rows; k++)
				sum += a->cells[i * a->columns + k] *
				       b->cells[k * b->columns + j];
			product->cells[i * b->columns + j] = sum;
		}
	}
	return 0;
}
