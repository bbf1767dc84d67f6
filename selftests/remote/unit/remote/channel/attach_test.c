// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server and clients find each other by a shmem region's first page. Here their steps are done in
 * every order, with a crash of either side at any step. Rings are never cleared under a living
 * client; both sides agree on which client is attached; and from every state they find each other
 * once there are no more crashes.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <remote/channel/attach.h>
#include <remote/ring/hooks.h>

enum { VERSION = 7, WORDS = 5, FAIR_ROUNDS = 400, PATIENCE = 50 };

/* a mistake that this test makes in the place of the code */
enum wrong { NOTHING_WRONG, SAME_GENERATION, SAME_NONCE, CLEARS_LATE };

struct plan {
	const char *name;
	/* number of crashes, or of orderly ends of a client */
	unsigned int client_ends, server_ends;
	uint64_t client_version;
	enum wrong wrong;
};

/* has no pointers and no padding, because states are compared as bytes */
struct state {
	uint64_t word[WORDS]; /* server, taken, client, generation, version */
	uint64_t generation, server_nonce, nonce, meant;
	uint64_t cleared_for, last_generation, last_nonce;
	uint32_t server_at, client_at;
	uint8_t server_lives, client_lives, serves, attached, refused, client_ends, server_ends,
		pad;
};

enum { STEP_SERVER, STEP_CLIENT, END_SERVER, END_CLIENT, LEAVE, NOTICE, MOVES };

static const struct plan *plan;
static struct attach_page page;
static const char *finding;
static void (*between)(void); /* called before each access to the page */

uint64_t hook_load(const uint64_t *p)
{
	if (between)
		between();
	return *p;
}

void hook_store(uint64_t *p, uint64_t v)
{
	if (between)
		between();
	*p = v;
}

void hook_store_release(uint64_t *p, uint64_t v)
{
	hook_store(p, v);
}

static void load(const struct state *s, struct attach_server *server, struct attach_client *client)
{
	page.server = s->word[0];
	page.taken = s->word[1];
	page.client = s->word[2];
	page.generation = s->word[3];
	page.version = s->word[4];
	*server = (struct attach_server){ &page, VERSION,	  s->generation,
					  0,	 s->server_nonce, s->server_at };
	*client = (struct attach_client){ &page, plan->client_version, s->nonce, s->meant,
					  s->client_at };
}

/*
 * Takes over the page's words after a step. A step has one access at most, so at most one word may
 * differ.
 */
static void store(struct state *s, const struct attach_server *server,
		  const struct attach_client *client)
{
	const uint64_t now[WORDS] = { page.server, page.taken, page.client, page.generation,
				      page.version };
	unsigned int i, changed = 0;

	for (i = 0; i < WORDS; i++)
		changed += now[i] != s->word[i];
	if (changed > 1)
		finding = "a step with two stores";
	memcpy(s->word, now, sizeof(now));
	s->generation = server->generation;
	s->server_nonce = server->nonce;
	s->server_at = server->at;
	s->nonce = client->nonce;
	s->meant = client->generation;
	s->client_at = client->at;
	if (s->generation > s->last_generation)
		s->last_generation = s->generation;
	if (s->nonce > s->last_nonce)
		s->last_nonce = s->nonce;
}

static void clears(struct state *s)
{
	s->cleared_for = s->server_nonce;
	if (s->client_lives && s->attached)
		finding = "rings are cleared under a client that is attached";
}

static void step_server(struct state *s)
{
	struct attach_server server;
	struct attach_client client;
	enum attach_step r;

	load(s, &server, &client);
	r = attach_server_step(&server);
	if (r == ATTACH_GONE)
		attach_server_again(&server);
	store(s, &server, &client);
	if (r == ATTACH_CLEAR && plan->wrong != CLEARS_LATE)
		clears(s);
	if (r == ATTACH_DONE && s->serves && plan->wrong == CLEARS_LATE &&
	    s->cleared_for != s->server_nonce)
		clears(s);
	s->serves = r == ATTACH_DONE;
}

static void step_client(struct state *s)
{
	struct attach_server server;
	struct attach_client client;
	bool was = s->attached;
	enum attach_step r;

	load(s, &server, &client);
	r = attach_client_step(&client);
	store(s, &server, &client);
	s->attached = r == ATTACH_DONE;
	s->refused = r == ATTACH_OTHER_VERSION;
	if (s->attached && !was && s->cleared_for != s->nonce)
		finding = "a client is attached to rings that were not cleared for it";
	if (was && r == ATTACH_GONE) { /* the program disconnects, and comes again */
		attach_client_leave(&client);
		store(s, &server, &client);
		s->client_lives = false;
	}
}

static void restart_server(struct state *s)
{
	s->server_lives = true;
	s->generation = plan->wrong == SAME_GENERATION ? s->generation : ++s->last_generation;
	s->server_at = 0;
	s->server_nonce = 0;
}

static void restart_client(struct state *s)
{
	s->client_lives = true;
	s->nonce = plan->wrong == SAME_NONCE ? s->nonce : s->last_nonce + 1000;
	s->last_nonce = s->nonce;
	s->client_at = 0;
	s->meant = s->cleared_for = 0;
	s->attached = s->refused = false;
}

static void leave(struct state *s)
{
	struct attach_server server;
	struct attach_client client;

	load(s, &server, &client);
	attach_client_leave(&client);
	store(s, &server, &client);
	s->client_lives = s->attached = false;
}

/* Makes the step @what. Returns false if it can't happen now. */
static bool move(struct state *s, unsigned int what)
{
	switch (what) {
	case STEP_SERVER: /* or the server is started */
		s->server_lives ? step_server(s) : restart_server(s);
		return true;
	case STEP_CLIENT:
		s->client_lives ? step_client(s) : restart_client(s);
		return true;
	case END_SERVER:
		if (!s->server_lives || !s->server_ends)
			return false;
		s->server_ends--;
		s->server_lives = s->serves = false;
		return true;
	case END_CLIENT:
	case LEAVE:
		if (!s->client_lives || !s->client_ends || (what == LEAVE && !s->attached))
			return false;
		s->client_ends--;
		if (what == LEAVE)
			leave(s);
		s->client_lives = s->attached = false;
		return true;
	/* the server notices that a dead client's counter stands still */
	default:
		if (!s->server_lives || !s->serves || s->client_lives)
			return false;
		s->serves = false;
		s->generation++;
		s->last_generation = s->generation > s->last_generation ? s->generation :
									  s->last_generation;
		s->server_at = 0;
		return true;
	}
}

static void check(const struct state *s)
{
	if (s->server_lives && s->client_lives && s->serves && s->attached &&
	    s->generation == s->meant && s->server_nonce != s->nonce)
		finding = "attached to a server that has another client";
}

static bool come_together(struct state s)
{
	unsigned int i;

	for (i = 0; i < FAIR_ROUNDS && !finding; i++) {
		move(&s, STEP_SERVER);
		move(&s, STEP_CLIENT);
		if (plan->client_version != VERSION ?
			    s.refused :
			    s.serves && s.attached && s.server_nonce == s.nonce &&
				    s.generation == s.meant)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ the search */

static struct state *seen;
static size_t room, nr;
static uint32_t *table;

static uint64_t hash(const struct state *s)
{
	const uint64_t *w = (const uint64_t *)s;
	uint64_t h = 0;
	size_t i;

	for (i = 0; i < sizeof(*s) / 8; i++)
		h = (h ^ w[i]) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
	return h;
}

static void add(const struct state *s)
{
	size_t i;

	for (i = hash(s) % (2 * room); table[i]; i = (i + 1) % (2 * room))
		if (!memcmp(&seen[table[i] - 1], s, sizeof(*s)))
			return;
	if (nr == room)
		fail_msg("%s: more states than there is room for", plan->name);
	seen[nr] = *s;
	table[i] = ++nr;
}

/*
 * @v: pointers to numbers of which it only matters which are equal, and which is larger. Replaces
 * each by a small multiple of @step; 0 stays 0.
 */
static uint64_t rename_all(uint64_t **v, unsigned int n, uint64_t step)
{
	uint64_t old[8], most = 0;
	unsigned int i, j, rank;

	for (i = 0; i < n; i++)
		old[i] = *v[i];
	for (i = 0; i < n; i++) {
		for (rank = 1, j = 0; j < n; j++) {
			unsigned int k;

			for (k = 0; k < j && old[k] != old[j]; k++)
				;
			rank += k == j && old[j] && old[j] < old[i]; /* count each value once */
		}
		*v[i] = old[i] ? rank * step : 0;
		most = *v[i] > most ? *v[i] : most;
	}
	return most;
}

/*
 * Makes equal what differs only in how far nonces and generations have counted, so that there are
 * finitely many states.
 */
static void make_small(struct state *s)
{
	uint64_t client = ATTACH_NUMBER(s->word[2]), server = ATTACH_NUMBER(s->word[0]);
	uint64_t *nonces[] = { &client, &s->word[1], &s->server_nonce, &s->nonce, &s->cleared_for };
	uint64_t *generations[] = { &server, &s->word[3], &s->generation, &s->meant };

	s->last_nonce = rename_all(nonces, 5, 1000);
	s->last_generation = rename_all(generations, 4, 10);
	s->word[2] = ATTACH_WORD(client, ATTACH_SAYS(s->word[2]));
	s->word[0] = ATTACH_WORD(server, ATTACH_SAYS(s->word[0]));
}

static void search(const struct plan *p)
{
	struct state first = { .server_lives = true,
			       .client_lives = true,
			       .generation = 1,
			       .last_generation = 1,
			       .nonce = 1000,
			       .last_nonce = 1000,
			       .client_ends = p->client_ends,
			       .server_ends = p->server_ends },
		     s;
	unsigned int what;
	size_t i;

	plan = p;
	finding = NULL;
	nr = 0;
	memset(table, 0, 2 * room * sizeof(*table));
	make_small(&first);
	add(&first);
	for (i = 0; i < nr && !finding; i++) {
		for (what = 0; what < MOVES && !finding; what++) {
			s = seen[i];
			if (!move(&s, what))
				continue;
			check(&s);
			make_small(&s);
			add(&s);
		}
		if (!finding && !come_together(seen[i]))
			finding = finding ? finding : "they never come together";
	}
	if (getenv("KVGPU_SHOW"))
		printf("# %s: %zu states, %s\n", p->name, nr, finding ? finding : "fine");
}

static int set_up(void **state)
{
	room = 1 << 20;
	seen = malloc(room * sizeof(*seen));
	table = calloc(2 * room, sizeof(*table));
	return !seen || !table;
}

static int tear_down(void **state)
{
	free(seen);
	free(table);
	return 0;
}

TEST(both_live)
{
	static const struct plan plans[] = {
		{ "none ends", 0, 0, VERSION, 0 },	   { "clients end", 3, 0, VERSION, 0 },
		{ "servers end", 0, 3, VERSION, 0 },	   { "both end", 2, 2, VERSION, 0 },
		{ "other version", 2, 1, VERSION + 1, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		search(&plans[i]);
		if (finding)
			fail_msg("%s: %s", plans[i].name, finding);
		assert_true(nr > 10);
	}
}

TEST(wrong_ones_are_noticed)
{
	static const struct plan plans[] = {
		{ "a server that begins with the generation of the last", 1, 1, VERSION,
		  SAME_GENERATION },
		{ "a client with the nonce of the last", 1, 1, VERSION, SAME_NONCE },
		{ "cleared when the client is told", 1, 0, VERSION, CLEARS_LATE },
	};
	size_t i;

	for (i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		search(&plans[i]);
		if (!finding)
			fail_msg("%s: nothing was found", plans[i].name);
	}
}

TEST(only_one_is_taken)
{
	struct attach_server s = { .page = &page, .version = VERSION, .generation = 5, .only = 7 };
	struct attach_client other = { .page = &page,
				       .version = VERSION,
				       .nonce = ATTACH_NONCE(8) };
	struct attach_client right = { .page = &page,
				       .version = VERSION,
				       .nonce = ATTACH_NONCE(7) };
	unsigned int i;

	memset(&page, 0, sizeof(page));
	attach_server_step(&s);
	for (i = 0; i < 20; i++) {
		attach_client_step(&other);
		assert_int_equal(attach_server_step(&s), ATTACH_LOOK_LATER);
	}
	for (i = 0; i < 20; i++) {
		attach_client_step(&right);
		attach_server_step(&s);
	}
	assert_int_equal(attach_client_step(&right), ATTACH_DONE);
	assert_int_equal(attach_server_step(&s), ATTACH_DONE);
}

/* --------------------------------------------------------- a server begins while a client looks */

enum { BYTES = 12 << 20, ACCESSES = 4 };

/* accesses made so far; before access number @turn the other side makes all of its own */
static unsigned int accesses, turn;
static bool found;
static uint64_t found_bytes;

static void open_between(void)
{
	if (accesses++ == turn) {
		between = NULL;
		attach_page_open(&page, BYTES, VERSION);
	}
}

static void look_between(void)
{
	if (accesses++ == turn) {
		between = NULL;
		found = attach_page_bytes(&page, &found_bytes);
	}
}

TEST(all_or_nothing_is_found)
{
	for (turn = 0; turn < ACCESSES; turn++) {
		memset(&page, 0, sizeof(page));
		accesses = 0;
		between = open_between;
		found = attach_page_bytes(&page, &found_bytes);
		assert_true(!found || found_bytes == BYTES);
		memset(&page, 0, sizeof(page));
		accesses = 0;
		between = look_between;
		attach_page_open(&page, BYTES, VERSION);
		assert_true(!found || found_bytes == BYTES);
	}
	between = NULL;
	assert_true(attach_page_bytes(&page, &found_bytes));
	assert_int_equal(found_bytes, BYTES);
}

TEST(a_counter_stands)
{
	struct attach_beat b = { 0 };
	uint64_t counter = 5;

	assert_false(attach_beat_stands(&b, &counter, 1000, PATIENCE));
	assert_false(attach_beat_stands(&b, &counter, 1000 + PATIENCE, PATIENCE));
	counter++;
	assert_false(attach_beat_stands(&b, &counter, 5000, PATIENCE));
	assert_false(attach_beat_stands(&b, &counter, 5000 + PATIENCE, PATIENCE));
	assert_true(attach_beat_stands(&b, &counter, 5001 + PATIENCE, PATIENCE));
	counter--; /* a lower value is a sign of life, too */
	assert_false(attach_beat_stands(&b, &counter, 9000, PATIENCE));
}

int main(void)
{
	return unit_tests_run(NULL, NULL, set_up, tear_down);
}
