/*
 * A relay that copies bytes between a client and an upstream and looks at none of them: one process, one thread,
 * epoll, an upstream connection for each client's. No HTTP gateway can cost less than this on the same kernel.
 *
 *     byte-relay <listen port> <upstream port>      (both on 127.0.0.1)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 65536, EVENTS = 256, BACKLOG = 4096, MAX_PORT = 65535 };

/* One direction of a connection: what was read from a socket and could not be written to the other one yet. */
struct side {
  int fd;
  int events;
  size_t from, to;
  struct side *other;
  char *unsent;
  int is_closed;
  struct side *next_closed;
};

static int epoll_fd;
static char shared[BUFFER];
/* Sides of the current batch of events that are closed; later events of the batch may still point to them. */
static struct side *closed;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void watch(struct side *side, int events) {
  if (side->is_closed || side->events == events) return;
  struct epoll_event event = {.events = events, .data.ptr = side};
  if (epoll_ctl(epoll_fd, side->events < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, side->fd, &event) < 0) fail("epoll_ctl");
  side->events = events;
}

static void close_side(struct side *side) {
  if (side->is_closed) return;
  side->is_closed = 1;
  close(side->fd);
  side->next_closed = closed;
  closed = side;
}

static void close_both(struct side *side) {
  close_side(side->other);
  close_side(side);
}

static void free_closed(void) {
  while (closed != NULL) {
    struct side *next = closed->next_closed;
    free(closed->unsent);
    free(closed);
    closed = next;
  }
}

/* Returns how many bytes were sent, or -1 if the connection is broken. */
static ssize_t send_some(int fd, const char *bytes, size_t length) {
  ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
  if (sent >= 0) return sent;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

/* Keeps what could not be sent, and reads no more from this side until it is. */
static void hold_back(struct side *side, size_t from, size_t to) {
  side->unsent = malloc(to - from);
  if (side->unsent == NULL) fail("malloc");
  memcpy(side->unsent, shared + from, to - from);
  side->from = 0;
  side->to = to - from;
  watch(side, side->events & ~EPOLLIN);
  watch(side->other, side->other->events | EPOLLOUT);
}

static void read_side(struct side *side) {
  ssize_t length = recv(side->fd, shared, BUFFER, 0);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length <= 0) return close_both(side);
  ssize_t sent = send_some(side->other->fd, shared, length);
  if (sent < 0) return close_both(side);
  if (sent < length) hold_back(side, sent, length);
}

/* Continues with what the other side has read and this one could not take. */
static void write_side(struct side *side) {
  struct side *source = side->other;
  ssize_t sent = send_some(side->fd, source->unsent + source->from, source->to - source->from);
  if (sent < 0) return close_both(side);
  source->from += sent;
  if (source->from < source->to) return;
  free(source->unsent);
  source->unsent = NULL;
  watch(side, side->events & ~EPOLLOUT);
  watch(source, source->events | EPOLLIN);
}

static struct sockaddr_in local(int port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static struct side *make_side(int fd) {
  struct side *side = calloc(1, sizeof *side);
  if (side == NULL) fail("calloc");
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  side->fd = fd;
  side->events = -1;
  return side;
}

static void accept_client(int listener, int upstream_port) {
  int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  if (client < 0) return;
  int upstream = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = local(upstream_port);
  if (upstream < 0 || (connect(upstream, (void *)&address, sizeof address) < 0 && errno != EINPROGRESS)) {
    close(client);
    if (upstream >= 0) close(upstream);
    return;
  }
  struct side *one = make_side(client), *two = make_side(upstream);
  one->other = two;
  two->other = one;
  watch(one, EPOLLIN);
  watch(two, EPOLLIN);
}

static int start_listening(int port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  struct sockaddr_in address = local(port);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (void *)&address, sizeof address) < 0) fail("bind");
  if (listen(listener, BACKLOG) < 0) fail("listen");
  return listener;
}

static void handle(struct epoll_event *event) {
  struct side *side = event->data.ptr;
  if (side->is_closed) return;
  if ((event->events & EPOLLOUT) && side->other->unsent != NULL) write_side(side);
  if (side->is_closed) return;
  /* While bytes of this side wait to be written, an end of the connection is found by writing them. */
  if ((event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && side->unsent == NULL) read_side(side);
}

int main(int argc, char **argv) {
  int port = argc == 3 ? atoi(argv[1]) : 0, upstream_port = argc == 3 ? atoi(argv[2]) : 0;
  if (port <= 0 || port > MAX_PORT || upstream_port <= 0 || upstream_port > MAX_PORT) {
    fprintf(stderr, "usage: byte-relay <listen port> <upstream port>\n");
    return 2;
  }
  epoll_fd = epoll_create1(0);
  int listener = start_listening(port);
  struct epoll_event listening = {.events = EPOLLIN, .data.ptr = NULL}, found[EVENTS];
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &listening);
  for (;;) {
    int count = epoll_wait(epoll_fd, found, EVENTS, -1);
    for (int i = 0; i < count; i++) {
      if (found[i].data.ptr == NULL) accept_client(listener, upstream_port);
      else handle(&found[i]);
    }
    free_closed();
  }
}
