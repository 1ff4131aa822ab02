/*
 * A connection manager without a network, compiled together with fake_verbs.c: each step succeeds at once unless the
 * test has set another answer.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

struct fake_id {
	struct rdma_cm_id id;
	int got, acked;
};

struct fake_event {
	struct rdma_cm_event event;
	struct fake_id *counts_for;
	uint8_t data[256];
};

struct fake_events {
	struct rdma_event_channel channel;
	int write_fd;
};

static pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cm_changed = PTHREAD_COND_INITIALIZER;
static char answered_function[64];
static int answer_type, answer_status;
static char answer_data[256];
static int bound_elsewhere;
static int block_connect, block_destroy;
static int live_ids, live_channels, live_events, id_count;
static struct ibv_device other_device = { .name = "other0" };
static struct ibv_context cm_context, other_context, second_context;

void fake_cm_reset(void)
{
	answered_function[0] = 0;
	bound_elsewhere = 0;
	block_connect = block_destroy = 0;
	live_ids = live_channels = live_events = id_count = 0;
	cm_context.device = &devices[0];
	other_context.device = &other_device;
	second_context.device = &devices[1];
}

/* Answers the next call of function with this event; with type -1, not at all. */
void fake_cm_answer(const char *function, int type, int status, const char *data)
{
	strcpy(answered_function, function);
	answer_type = type;
	answer_status = status;
	strcpy(answer_data, data);
}

void fake_cm_elsewhere(int other) { bound_elsewhere = other; }

void fake_cm_block(int block)
{
	pthread_mutex_lock(&cm_lock);
	block_connect = block;
	pthread_cond_broadcast(&cm_changed);
	pthread_mutex_unlock(&cm_lock);
}

void fake_cm_block_destroy(int block)
{
	pthread_mutex_lock(&cm_lock);
	block_destroy = block;
	pthread_cond_broadcast(&cm_changed);
	pthread_mutex_unlock(&cm_lock);
}

int fake_cm_ids(void) { return live_ids; }
int fake_cm_channels(void) { return live_channels; }
int fake_cm_events(void) { return live_events; }

static void report(struct fake_id *about, struct rdma_cm_id *listener, int type, int status, const char *data)
{
	struct fake_event *event = calloc(1, sizeof(*event));
	event->event.id = &about->id;
	event->event.listen_id = listener;
	event->event.event = type;
	event->event.status = status;
	event->counts_for = listener ? (struct fake_id *)listener : about;
	if (data[0]) {
		strcpy((char *)event->data, data);
		event->event.param.conn.private_data = event->data;
		event->event.param.conn.private_data_len = strlen(data);
	}
	if (about->id.ps == RDMA_PS_UDP) {
		struct ibv_ah_attr *path = &event->event.param.ud.ah_attr;
		path->grh.dgid.raw[0] = 0xfe;
		path->grh.dgid.raw[15] = 9;
		path->grh.sgid_index = 2;
		path->grh.hop_limit = 64;
		path->dlid = 0xc001;
		path->sl = 5;
		path->is_global = 1;
		path->port_num = 1;
		event->event.param.ud.qp_num = type == RDMA_CM_EVENT_MULTICAST_JOIN ? 0xffffff : 0x123456;
		event->event.param.ud.qkey = RDMA_UDP_QKEY;
	} else {
		event->event.param.conn.responder_resources = 5;
		event->event.param.conn.initiator_depth = 3;
	}
	if (write(((struct fake_events *)about->id.channel)->write_fd, &event, sizeof(event)) < 0)
		abort();
}

static void answer(struct rdma_cm_id *id, const char *function, int type, const char *data)
{
	int status = 0;
	if (strcmp(function, answered_function) == 0) {
		answered_function[0] = 0;
		type = answer_type;
		status = answer_status;
		data = answer_data;
	}
	if (type >= 0)
		report((struct fake_id *)id, NULL, type, status, data);
}

/* 0 if there is no such identifier. */
int fake_cm_event(const char *name, int type, int status)
{
	struct fake_id *about = fake_find(name);
	if (about)
		report(about, NULL, type, status, "");
	return about != NULL;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct fake_events *events;
	int files[2];
	CREATOR();
	if (pipe(files))
		abort();
	events = calloc(1, sizeof(*events));
	events->channel.fd = files[0];
	events->write_fd = files[1];
	__atomic_add_fetch(&live_channels, 1, __ATOMIC_SEQ_CST);
	return &events->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	close(((struct fake_events *)channel)->write_fd);
	free(channel);
	__atomic_sub_fetch(&live_channels, 1, __ATOMIC_SEQ_CST);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	MINUS_ONE();
	if (read(channel->fd, event, sizeof(*event)) != sizeof(*event))
		return -1;
	pthread_mutex_lock(&cm_lock);
	((struct fake_event *)*event)->counts_for->got++;
	pthread_mutex_unlock(&cm_lock);
	__atomic_add_fetch(&live_events, 1, __ATOMIC_SEQ_CST);
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	pthread_mutex_lock(&cm_lock);
	((struct fake_event *)event)->counts_for->acked++;
	pthread_cond_broadcast(&cm_changed);
	pthread_mutex_unlock(&cm_lock);
	free(event); /* twice would end the process */
	__atomic_sub_fetch(&live_events, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static struct fake_id *new_id(struct rdma_event_channel *channel, enum rdma_port_space ps)
{
	struct fake_id *id = named(calloc(1, sizeof(*id)), "id");
	sprintf(objects[object_count - 1].name, "id%d", id_count++); /* identifiers have a count of their own */
	id->id.channel = channel;
	id->id.ps = ps;
	__atomic_add_fetch(&live_ids, 1, __ATOMIC_SEQ_CST);
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, enum rdma_port_space ps)
{
	MINUS_ONE();
	*id = &new_id(channel, ps)->id;
	note("create_id %s context=%d space=%x", n(*id), context != NULL, ps);
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct fake_id *fake = (struct fake_id *)id;
	MINUS_ONE();
	note("destroy_id %s", n(id));
	pthread_mutex_lock(&cm_lock);
	while (fake->acked < fake->got || block_destroy)
		pthread_cond_wait(&cm_changed, &cm_lock);
	pthread_mutex_unlock(&cm_lock);
	/* Not freed: an event may still be in the pipe, which the kernel would have removed. */
	__atomic_sub_fetch(&live_ids, 1, __ATOMIC_SEQ_CST);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	MINUS_ONE();
	note("migrate_id %s", n(id));
	id->channel = channel;
	return 0;
}

static const char *text(struct sockaddr *address)
{
	static char buffer[100];
	char host[INET6_ADDRSTRLEN];
	if (address->sa_family == AF_INET6) {
		struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)address;
		inet_ntop(AF_INET6, &ipv6->sin6_addr, host, sizeof(host));
		sprintf(buffer, "[%s%%%d]:%d", host, ipv6->sin6_scope_id, ntohs(ipv6->sin6_port));
	} else {
		struct sockaddr_in *ipv4 = (struct sockaddr_in *)address;
		inet_ntop(address->sa_family, &ipv4->sin_addr, host, sizeof(host));
		sprintf(buffer, "%s:%d", host, ntohs(ipv4->sin_port));
	}
	return buffer;
}

static void place(struct rdma_cm_id *id, struct sockaddr *address, int port)
{
	struct sockaddr_in *local = &id->route.addr.src_sin;
	if (address)
		memcpy(&id->route.addr.src_storage, address, sizeof(struct sockaddr_storage));
	else
		local->sin_family = AF_INET, local->sin_addr.s_addr = htonl(0x0a000007);
	if (local->sin_port == 0)
		local->sin_port = htons(port);
	if (address && address->sa_family == AF_INET && local->sin_addr.s_addr == INADDR_ANY)
		return; /* of all devices */
	id->verbs = bound_elsewhere ? &other_context : &cm_context;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int option, void *value, size_t bytes)
{
	MINUS_ONE();
	note("set_option %s %d.%d=%d", n(id), level, option, bytes == 1 ? *(uint8_t *)value : *(int *)value);
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	MINUS_ONE();
	note("bind_addr %s %s", n(id), text(address));
	place(id, address, 40000);
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	MINUS_ONE();
	note("listen %s %d", n(id), backlog);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *destination, int timeout)
{
	MINUS_ONE();
	note("resolve_addr %s source=%d %s %d ms", n(id), source != NULL, text(destination), timeout);
	memcpy(&id->route.addr.dst_storage, destination, sizeof(struct sockaddr_storage));
	place(id, NULL, 50000);
	answer(id, __func__, RDMA_CM_EVENT_ADDR_RESOLVED, "");
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout)
{
	MINUS_ONE();
	note("resolve_route %s %d ms", n(id), timeout);
	answer(id, __func__, RDMA_CM_EVENT_ROUTE_RESOLVED, "");
	return 0;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *a, int *mask)
{
	MINUS_ONE();
	if (transport == IBV_TRANSPORT_IWARP) {
		*mask = a->qp_state == IBV_QPS_INIT ? IBV_QP_STATE | IBV_QP_ACCESS_FLAGS : 0;
		return 0;
	}
	switch (a->qp_state) {
	case IBV_QPS_INIT:
		*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
		a->pkey_index = 0x101;
		a->port_num = 1;
		break;
	case IBV_QPS_RTR:
		*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | 1 << 21;
		a->ah_attr.grh.dgid.raw[0] = 0xfe;
		a->ah_attr.grh.dgid.raw[15] = 0x7f;
		a->ah_attr.grh.flow_label = 0xabcde;
		a->ah_attr.grh.sgid_index = 2;
		a->ah_attr.grh.hop_limit = 200;
		a->ah_attr.grh.traffic_class = 201;
		a->ah_attr.dlid = 0xfedc;
		a->ah_attr.sl = 5;
		a->ah_attr.src_path_bits = 3;
		a->ah_attr.static_rate = 7;
		a->ah_attr.is_global = 1;
		a->ah_attr.port_num = 1;
		a->path_mtu = IBV_MTU_2048;
		a->dest_qp_num = 0x123456;
		a->rq_psn = 0x234567;
		a->max_dest_rd_atomic = 9;
		break;
	default:
		*mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC;
		a->timeout = 19;
		a->retry_cnt = 6;
		a->rnr_retry = 5;
		a->sq_psn = 0x345678;
		a->max_rd_atomic = 9;
	}
	return 0;
}

static void note_parameters(const char *function, struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	note("%s %s data=%.*s resources=%d depth=%d flow=%d retry=%d rnr=%d srq=%d qp=%x", function, n(id),
	     p->private_data_len, p->private_data ? (const char *)p->private_data : "", p->responder_resources,
	     p->initiator_depth, p->flow_control, p->retry_count, p->rnr_retry_count, p->srq, p->qp_num);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	MINUS_ONE();
	note_parameters("connect", id, p);
	pthread_mutex_lock(&cm_lock);
	while (block_connect)
		pthread_cond_wait(&cm_changed, &cm_lock);
	pthread_mutex_unlock(&cm_lock);
	answer(id, __func__,
	       transport == IBV_TRANSPORT_IWARP || id->ps == RDMA_PS_UDP ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE, "welcome");
	return 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
	MINUS_ONE();
	note("establish %s", n(id));
	return 0;
}

/* A request of a peer arrives at fake0, other0 or fake1; returns the name of the new identifier. */
const char *fake_cm_request(const char *listener, const char *data, int elsewhere)
{
	struct rdma_cm_id *at = fake_find(listener);
	struct fake_id *id;
	if (!at)
		return NULL;
	id = new_id(at->channel, at->ps);
	id->id.verbs = elsewhere == 2 ? &second_context : elsewhere ? &other_context : &cm_context;
	id->id.route.addr.src_storage = at->route.addr.src_storage;
	id->id.route.addr.dst_sin.sin_family = AF_INET;
	id->id.route.addr.dst_sin.sin_addr.s_addr = htonl(0x0a000009);
	id->id.route.addr.dst_sin.sin_port = htons(60000);
	report(id, at, RDMA_CM_EVENT_CONNECT_REQUEST, 0, data);
	return n(id);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	MINUS_ONE();
	note_parameters("accept", id, p);
	if (id->ps != RDMA_PS_UDP)
		answer(id, __func__, RDMA_CM_EVENT_ESTABLISHED, "");
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length)
{
	MINUS_ONE();
	note("reject %s %.*s", n(id), length, length ? (const char *)data : "");
	return 0;
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *context)
{
	MINUS_ONE();
	note("join_multicast %s %s context=%d", n(id), text(address), context != NULL);
	answer(id, __func__, RDMA_CM_EVENT_MULTICAST_JOIN, "");
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	MINUS_ONE();
	note("disconnect %s", n(id));
	answer(id, __func__, RDMA_CM_EVENT_DISCONNECTED, "");
	return 0;
}
