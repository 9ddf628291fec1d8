// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many messages a chat server with very many threads delivers, in the
 * manner of VolanoMark: two threads for each connection on either side, and a
 * message from a user goes to all users in the room. As in the Java machines
 * of its time, a thread that finds a room locked calls sched_yield() until it
 * is not.
 *
 * Nothing can block for good: a room keeps all its messages, so a server's
 * reader never waits for its writers, and a client's reader for nothing but
 * messages. A lost or misordered message is an error.
 */
#include "bench.h"

#include <semaphore.h>
#include <sys/socket.h>

const char usage[] = "ROOMS USERS MESSAGES";

struct message {
	uint32_t user;
	uint32_t number;	/* of this user's messages */
	char text[56];
};

struct room {
	pthread_mutex_t lock;
	uint32_t count;
	struct message *messages;
	struct user *users;
};

struct user {
	uint32_t id;		/* in the room */
	struct room *room;
	int client, server;	/* the connection's ends */
	sem_t news;		/* messages in the room, still to be sent */
	uint64_t start, end;
};

/* What the two processes share */
struct common {
	pthread_barrier_t barrier;
	uint64_t elapsed;
};

static long rooms, users, messages;
static struct user *all_users;
static struct common *common;

static void lock_room(struct room *room)
{
	while (pthread_mutex_trylock(&room->lock))
		sched_yield();
}

static void unlock_room(struct room *room)
{
	pthread_mutex_unlock(&room->lock);
}

static void *server_reader(void *arg)
{
	struct user *user = arg;
	struct room *room = user->room;
	struct message message;
	long i, k;

	for (i = 0; i < messages; i++) {
		read_all(user->server, &message, sizeof(message));
		lock_room(room);
		room->messages[room->count++] = message;
		for (k = 0; k < users; k++)
			sem_post(&room->users[k].news);
		unlock_room(room);
	}
	return NULL;
}

static void *server_writer(void *arg)
{
	struct user *user = arg;
	struct message message;
	long i;

	for (i = 0; i < users * messages; i++) {
		while (sem_wait(&user->news))
			;
		lock_room(user->room);
		message = user->room->messages[i];
		unlock_room(user->room);
		write_all(user->server, &message, sizeof(message));
	}
	return NULL;
}

static void *client_sender(void *arg)
{
	struct user *user = arg;
	struct message message = { .user = user->id, .text = "Good morning" };
	long i;

	pthread_barrier_wait(&common->barrier);
	user->start = now_ns();
	for (i = 0; i < messages; i++) {
		message.number = i;
		write_all(user->client, &message, sizeof(message));
	}
	return NULL;
}

static void *client_receiver(void *arg)
{
	struct user *user = arg;
	uint32_t *next = zalloc(users, sizeof(*next));
	struct message message;
	long i;

	for (i = 0; i < users * messages; i++) {
		read_all(user->client, &message, sizeof(message));
		if (message.user >= users ||
		    message.number != next[message.user]++)
			fail("a message was lost");
	}
	user->end = now_ns();
	free(next);
	return NULL;
}

static pthread_t *start_pairs(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t *threads = zalloc(2 * rooms * users, sizeof(*threads));
	long i;

	for (i = 0; i < rooms * users; i++) {
		threads[2 * i] = start_thread(one, &all_users[i]);
		threads[2 * i + 1] = start_thread(other, &all_users[i]);
	}
	return threads;
}

static void join_pairs(pthread_t *threads)
{
	long i;

	for (i = 0; i < 2 * rooms * users; i++)
		join_thread(threads[i]);
}

static void serve(void *arg)
{
	pthread_t *threads = start_pairs(server_reader, server_writer);

	(void)arg;
	pthread_barrier_wait(&common->barrier);
	join_pairs(threads);
}

/* From the first message sent to the last one received */
static void chat(void *arg)
{
	uint64_t start = UINT64_MAX, end = 0;
	long i;

	(void)arg;
	join_pairs(start_pairs(client_sender, client_receiver));
	for (i = 0; i < rooms * users; i++) {
		if (all_users[i].start < start)
			start = all_users[i].start;
		if (all_users[i].end > end)
			end = all_users[i].end;
	}
	common->elapsed = end - start;
}

static void make_room(struct user *members)
{
	struct room *room = zalloc(1, sizeof(*room));
	int ends[2];
	long i;

	pthread_mutex_init(&room->lock, NULL);
	room->messages = zalloc(users * messages, sizeof(*room->messages));
	room->users = members;
	for (i = 0; i < users; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			die("socketpair");
		members[i].id = i;
		members[i].room = room;
		members[i].client = ends[0];
		members[i].server = ends[1];
		sem_init(&members[i].news, 0, 0);
	}
}

int main(int argc, char **argv)
{
	pthread_barrierattr_t attr;
	double seconds;
	long i;

	if (argc != 4)
		bad_usage();
	rooms = number("ROOMS", argv[1], 1, 1000);
	users = number("USERS", argv[2], 1, 1000);
	messages = number("MESSAGES", argv[3], 1, 1000000);

	raise_file_limit();
	all_users = zalloc(rooms * users, sizeof(*all_users));
	for (i = 0; i < rooms; i++)
		make_room(&all_users[i * users]);

	/* The senders start when all threads are there, the server's too */
	common = shared(sizeof(*common));
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	errno = pthread_barrier_init(&common->barrier, &attr,
				     rooms * users + 1);
	if (errno)
		die("pthread_barrier_init");
	spawn(serve, NULL);
	spawn(chat, NULL);
	reap(2);

	seconds = (double)common->elapsed / SEC;
	row("messages-per-s",
	    (double)rooms * users * users * messages / seconds);
	row("seconds", seconds);
	return 0;
}
