/*
 * Makes rxe behave like an adapter in hardware. A library in front of libibverbs: it passes everything on to the real
 * one, and changes what the drivers of these adapters do in another way than rxe. docs/75-lab.md lists the differences.
 *
 * It is test equipment, compiled by lab/suite with -DPROFILE='"mlx5"', for example. Devices of other drivers than rxe
 * are left alone, and only what rdmacomm calls is changed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define SHORT 32        /* the longest message that fits in a completion */
#define MOST_ELEMENTS 32 /* of rxe */
#define BUCKETS 1024
#define GIDS 256

static const struct profile {
	const char *name, *device;
	unsigned vendor, part;
	int in_completion;      /* short messages and answers come with the completion, and ibv_poll_cq copies them */
	int stale_failures;     /* a failed completion has the opcode and the length of some other one */
	int powers_of_two;      /* queues get more room than was asked for */
	int silent_overrun;     /* a queue that overran only falls silent */
	int two_gids;           /* each address has an entry for RoCE v1 and one for v2 */
	int has_rereg, has_resize, has_shared, has_atomics, has_last_work;
	int only_reliable;      /* no UC */
	int only_connected;     /* no UD either */
	int only_basic;         /* no invalidation, no windows */
	int no_query;           /* a queue pair does not tell its state */
	int first_windows_only; /* no windows of type 2 */
	int most_inline;        /* -1: whatever rxe allows */
	int ignores_inline;     /* any amount is granted, and the flag of a request has no effect */
	int read_elements;      /* 0: as many as rxe allows */
} profiles[] = {
	{ .name = "mlx5", .device = "mlx5like0", .vendor = 0x2c9, .part = 4119, .in_completion = 1, .stale_failures = 1,
	  .powers_of_two = 1, .silent_overrun = 1, .two_gids = 1, .has_rereg = 1, .has_resize = 1, .has_shared = 1,
	  .has_atomics = 1, .has_last_work = 1, .most_inline = -1 },
	{ .name = "irdma", .device = "irdmalike0", .vendor = 0x8086, .part = 0x37d2, .powers_of_two = 1, .only_reliable = 1,
	  .has_rereg = 1, .first_windows_only = 1, .most_inline = 48, .read_elements = 1 },
	{ .name = "mana", .device = "manalike0", .vendor = 0x1414, .part = 0xba, .only_reliable = 1, .only_connected = 1,
	  .only_basic = 1, .no_query = 1, .most_inline = -1, .ignores_inline = 1 },
};
static const struct profile *profile;

/* A posted request of which the beginning goes through memory of this library. */
struct slot {
	uint64_t id;
	int used, elements;
	unsigned length;
	struct ibv_sge element[MOST_ELEMENTS];
	char *bytes;
};

struct slots {
	struct ibv_pd *pd;
	unsigned count, next, most_elements;
	struct slot *slot;
	char *memory;
	struct ibv_mr *region;
};

struct shared {
	unsigned elements; /* that the caller asked for */
	struct slots receives;
};

struct pair {
	struct pair *next;
	struct ibv_qp *qp;
	int failed, told;
	int signals_all;
	struct slots sends, receives;
};

struct queue {
	struct queue *next;
	struct ibv_cq *cq;
	void *context;
	int silent;
	struct ibv_wc *kept; /* taken from the real queue already */
	unsigned first, last, room;
};

struct region {
	struct region *next;
	struct ibv_mr *mr;
	uint64_t address, length;
	int access;
};

struct opened {
	struct opened *next;
	struct ibv_context *context;
	struct ibv_context_ops ops; /* those of rxe */
	int (*query_device_ex)(struct ibv_context *, const struct ibv_query_device_ex_input *,
			       struct ibv_device_attr_ex *, size_t);
	int (*query_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);
	int real_events, all_events, wake, dead;
	struct ibv_async_event *event; /* those that are made up */
	unsigned events, event_room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all that follows */
static struct opened *contexts;
static struct pair *pairs[BUCKETS];
static struct region *regions[BUCKETS];
static struct queue *queues;

#define LOCKED pthread_mutex_lock(&lock)
#define UNLOCKED pthread_mutex_unlock(&lock)

static void *verbs, *connections;

static void *real(const char *function)
{
	void *found = dlsym(strncmp(function, "rdma_", 5) == 0 ? connections : verbs, function);
	if (!found)
		abort();
	return found;
}

/* The function of the real library that has the name of this one. */
#define REAL(type, ...) ((type(*)(__VA_ARGS__))real(__func__))

__attribute__((constructor)) static void choose(void)
{
	for (unsigned i = 0; i < sizeof(profiles) / sizeof(*profiles); i++)
		if (strcmp(profiles[i].name, PROFILE) == 0)
			profile = &profiles[i];
	verbs = dlopen("libibverbs.so.1", RTLD_NOW);
	connections = dlopen("librdmacm.so.1", RTLD_NOW);
	if (!profile || !verbs || !connections)
		abort();
}

static struct opened *opened(struct ibv_context *context)
{
	struct opened *found;
	for (found = contexts; found && found->context != context; found = found->next)
		;
	return found;
}

/* The same, for callers that do not hold the lock; NULL for a device that is left alone. */
static struct opened *changed(struct ibv_context *context)
{
	struct opened *found;
	LOCKED;
	found = opened(context);
	UNLOCKED;
	return found;
}

/*
 * The same for functions that create an object, to which the kernel assigns the file for its events. rdmacomm has read
 * that of this library by then.
 */
static struct opened *creating(struct ibv_context *context)
{
	struct opened *found = changed(context);
	if (found)
		context->async_fd = found->real_events;
	return found;
}

static int power_of_two(int least)
{
	int power = 1;
	while (power < least)
		power *= 2;
	return power;
}

/* ---- requests whose beginning goes through memory of this library ---- */

static void make_slots(struct slots *slots, struct ibv_pd *pd, unsigned count, unsigned most_elements)
{
	struct ibv_mr *(*reg)(struct ibv_pd *, void *, size_t, int) = real("ibv_reg_mr");
	memset(slots, 0, sizeof(*slots));
	if (!profile->in_completion || count == 0)
		return;
	slots->memory = calloc(count, SHORT);
	slots->region = reg(pd, slots->memory, (size_t)count * SHORT, IBV_ACCESS_LOCAL_WRITE);
	if (!slots->region)
		abort();
	slots->slot = calloc(count, sizeof(struct slot));
	for (unsigned i = 0; i < count; i++)
		slots->slot[i].bytes = slots->memory + (size_t)i * SHORT;
	slots->pd = pd;
	slots->most_elements = most_elements;
	slots->count = count;
}

static void free_slots(struct slots *slots)
{
	int (*dereg)(struct ibv_mr *) = real("ibv_dereg_mr");
	if (slots->region)
		dereg(slots->region);
	free(slots->memory);
	free(slots->slot);
	memset(slots, 0, sizeof(*slots));
}

static void empty_slots(struct slots *slots)
{
	for (unsigned i = 0; i < slots->count; i++)
		slots->slot[i].used = 0;
}

static struct slot *slot_of(struct slots *slots, uint64_t id)
{
	uint64_t from = (uintptr_t)slots->slot;
	if (!slots->slot || id < from || id >= from + slots->count * sizeof(struct slot))
		return NULL;
	struct slot *slot = (struct slot *)(uintptr_t)id;
	return slot->used ? slot : NULL;
}

/*
 * Whether the device would find this memory valid now. What an adapter does with the key of a message that fits in the
 * completion is not known; a request that is wrong from the beginning is left to rxe, which rejects it.
 */
static int is_valid(struct ibv_pd *pd, const struct ibv_sge *element)
{
	for (struct region *each = regions[element->lkey % BUCKETS]; each; each = each->next)
		if (each->mr->lkey == element->lkey)
			return each->mr->pd == pd && (each->access & IBV_ACCESS_LOCAL_WRITE) &&
			       element->addr >= each->address && element->length <= each->length &&
			       element->addr - each->address <= each->length - element->length;
	return 0;
}

/*
 * Writes the elements of a request to `to` so that its first bytes arrive in a slot.
 *
 * Returns the slot; NULL if the request is to be posted as it is.
 */
static struct slot *divert(struct slots *slots, const struct ibv_sge *from, int count, struct ibv_sge *to, int *written)
{
	uint64_t total = 0;
	struct slot *slot = NULL;
	if (count <= 0 || (unsigned)count >= slots->most_elements)
		return NULL;
	for (int i = 0; i < count; i++) {
		if (from[i].length && !is_valid(slots->pd, &from[i]))
			return NULL;
		total += from[i].length;
	}
	if (total == 0)
		return NULL;
	for (unsigned i = 0; i < slots->count && !slot; i++)
		if (!slots->slot[(slots->next + i) % slots->count].used)
			slot = &slots->slot[(slots->next + i) % slots->count];
	if (!slot)
		return NULL;
	slots->next = slot - slots->slot + 1;
	slot->used = 1;
	slot->elements = count;
	memcpy(slot->element, from, count * sizeof(*from));
	slot->length = total < SHORT ? total : SHORT;
	memset(slot->bytes, 0xa5, SHORT);

	unsigned skip = slot->length;
	to[0] = (struct ibv_sge){ (uintptr_t)slot->bytes, slot->length, slots->region->lkey };
	*written = 1;
	for (int i = 0; i < count; i++) {
		unsigned here = from[i].length < skip ? from[i].length : skip;
		skip -= here;
		if (from[i].length > here)
			to[(*written)++] =
				(struct ibv_sge){ from[i].addr + here, from[i].length - here, from[i].lkey };
	}
	return slot;
}

/* As the driver of the adapter: it looks at no key. */
static void deliver(const struct slot *slot, unsigned length)
{
	unsigned done = 0;
	if (length > slot->length)
		length = slot->length;
	for (int i = 0; i < slot->elements && done < length; i++) {
		unsigned here = slot->element[i].length < length - done ? slot->element[i].length : length - done;
		memcpy((void *)(uintptr_t)slot->element[i].addr, slot->bytes + done, here);
		done += here;
	}
}

/* ---- regions ---- */

static struct ibv_mr *know(struct ibv_mr *mr, uint64_t address, uint64_t length, int access)
{
	struct region *region;
	if (!mr)
		return NULL;
	region = malloc(sizeof(*region));
	*region = (struct region){ NULL, mr, address, length, access };
	LOCKED;
	region->next = regions[mr->lkey % BUCKETS];
	regions[mr->lkey % BUCKETS] = region;
	UNLOCKED;
	return mr;
}

static void forget(struct ibv_mr *mr)
{
	LOCKED;
	for (struct region **at = &regions[mr->lkey % BUCKETS]; *at; at = &(*at)->next)
		if ((*at)->mr == mr) {
			struct region *found = *at;
			*at = found->next;
			free(found);
			break;
		}
	UNLOCKED;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	return know(REAL(struct ibv_mr *, struct ibv_pd *, void *, size_t, int)(pd, address, length, access),
		    (uintptr_t)address, length, access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length, uint64_t remote, int access)
{
	return know(REAL(struct ibv_mr *, struct ibv_pd *, void *, size_t, uint64_t, int)(pd, address, length, remote,
											 access),
		    remote, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t remote, unsigned int access)
{
	return know(REAL(struct ibv_mr *, struct ibv_pd *, void *, size_t, uint64_t, unsigned int)(pd, address, length,
												   remote, access),
		    remote, length, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	/* First: another thread may get the same key afterwards. */
	forget(mr);
	return REAL(int, struct ibv_mr *)(mr);
}

/* rxe cannot do this: a new region takes the place of the old one, with new keys. */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address, size_t length, int access)
{
	struct ibv_mr *(*reg)(struct ibv_pd *, void *, size_t, int) = real("ibv_reg_mr");
	int (*dereg)(struct ibv_mr *) = real("ibv_dereg_mr");
	struct region old = { 0 };
	struct ibv_mr *new, kept;

	LOCKED;
	for (struct region *each = regions[mr->lkey % BUCKETS]; each; each = each->next)
		if (each->mr == mr)
			old = *each;
	UNLOCKED;
	if (!profile->has_rereg || !changed(mr->context) || !old.mr) {
		errno = EOPNOTSUPP;
		return IBV_REREG_MR_ERR_CMD;
	}
	if (!(flags & IBV_REREG_MR_CHANGE_PD))
		pd = mr->pd;
	if (!(flags & IBV_REREG_MR_CHANGE_TRANSLATION)) {
		address = mr->addr;
		length = mr->length;
	}
	if (!(flags & IBV_REREG_MR_CHANGE_ACCESS))
		access = old.access;
	new = reg(pd, address, length, access);
	if (!new)
		return IBV_REREG_MR_ERR_CMD;
	forget(mr);
	kept = *mr;
	*mr = *new;
	*new = kept;
	if (dereg(new)) /* the kernel's part of the old one */
		abort();
	know(mr, (uintptr_t)address, length, access);
	return 0;
}

/* ---- queue pairs ---- */

static struct pair *pair_of(uint32_t number)
{
	struct pair *found;
	for (found = pairs[number % BUCKETS]; found && found->qp->qp_num != number; found = found->next)
		;
	return found;
}

static void happen(struct opened *where, struct ibv_async_event event)
{
	uint64_t one = 1;
	if (where->events == where->event_room) {
		where->event_room = where->event_room ? 2 * where->event_room : 16;
		where->event = realloc(where->event, where->event_room * sizeof(event));
	}
	where->event[where->events++] = event;
	if (write(where->wake, &one, sizeof(one)) < 0)
		abort();
}

/* The queue pair is in ERROR. rxe does not tell that its shared receive queue loses no more receives to it. */
static void failed(struct pair *pair)
{
	pair->failed = 1;
	if (pair->qp->srq && profile->has_last_work && !pair->told) {
		pair->told = 1;
		happen(opened(pair->qp->context),
		       (struct ibv_async_event){ .element.qp = pair->qp, .event_type = IBV_EVENT_QP_LAST_WQE_REACHED });
	}
}

/* rxe flushes receives only on a change to ERROR, which may be another one. */
static void flush(struct pair *pair)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int) = real("ibv_modify_qp");
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	failed(pair);
	modify(pair->qp, &attr, IBV_QP_STATE);
}

static void drop_completions(struct ibv_cq *cq, uint32_t number);

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr more = *init;
	struct pair *pair;
	struct ibv_qp *qp;
	struct opened *here = creating(pd->context);
	int diverts = profile->in_completion && init->qp_type == IBV_QPT_RC;

	if (!here)
		return REAL(struct ibv_qp *, struct ibv_pd *, struct ibv_qp_init_attr *)(pd, init);
	if (here->dead) {
		errno = EIO;
		return NULL;
	}
	if (init->qp_type != IBV_QPT_RC && !(init->qp_type == IBV_QPT_UD && !profile->only_connected) &&
	    (init->qp_type == IBV_QPT_UD || profile->only_reliable)) {
		errno = profile->only_connected ? EINVAL : EOPNOTSUPP;
		return NULL;
	}
	if (profile->most_inline >= 0 && init->cap.max_inline_data > (unsigned)profile->most_inline) {
		errno = EINVAL;
		return NULL;
	}
	if (profile->ignores_inline)
		more.cap.max_inline_data = 0;
	if (profile->powers_of_two) {
		more.cap.max_send_wr = init->cap.max_send_wr ? power_of_two(init->cap.max_send_wr) : 0;
		more.cap.max_recv_wr = init->cap.max_recv_wr ? power_of_two(init->cap.max_recv_wr) : 0;
	}
	if (diverts && !init->srq && more.cap.max_recv_sge < MOST_ELEMENTS)
		more.cap.max_recv_sge++;
	if (diverts && init->sq_sig_all && more.cap.max_send_sge < MOST_ELEMENTS)
		more.cap.max_send_sge++;
	qp = REAL(struct ibv_qp *, struct ibv_pd *, struct ibv_qp_init_attr *)(pd, &more);
	if (!qp && more.cap.max_send_wr != init->cap.max_send_wr) { /* beyond what rxe has */
		more.cap.max_send_wr = init->cap.max_send_wr;
		more.cap.max_recv_wr = init->cap.max_recv_wr;
		qp = REAL(struct ibv_qp *, struct ibv_pd *, struct ibv_qp_init_attr *)(pd, &more);
	}
	if (!qp)
		return NULL;

	pair = calloc(1, sizeof(*pair));
	pair->qp = qp;
	pair->signals_all = init->sq_sig_all;
	if (diverts && !init->srq)
		make_slots(&pair->receives, pd, more.cap.max_recv_wr, more.cap.max_recv_sge);
	if (diverts && init->sq_sig_all)
		make_slots(&pair->sends, pd, more.cap.max_send_wr, more.cap.max_send_sge);
	LOCKED;
	pair->next = pairs[qp->qp_num % BUCKETS];
	pairs[qp->qp_num % BUCKETS] = pair;
	UNLOCKED;

	/* What was added is not the caller's. */
	more.cap.max_send_sge = init->cap.max_send_sge;
	if (!init->srq)
		more.cap.max_recv_sge = init->cap.max_recv_sge;
	if (profile->ignores_inline || profile->most_inline >= 0)
		more.cap.max_inline_data = init->cap.max_inline_data;
	init->cap = more.cap;
	return qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct opened *here = changed(qp->context);
	struct pair *pair = NULL;
	uint32_t number = qp->qp_num;
	struct ibv_cq *send_cq = qp->send_cq, *recv_cq = qp->recv_cq;
	int result;

	if (!here)
		return REAL(int, struct ibv_qp *)(qp);
	LOCKED;
	/* In real libraries the end of the queue pair waits until its events are acknowledged. */
	for (unsigned i = 0, kept = 0; i <= here->events; i++) {
		if (i == here->events) {
			here->events = kept;
			break;
		}
		if (here->event[i].event_type != IBV_EVENT_QP_LAST_WQE_REACHED || here->event[i].element.qp != qp)
			here->event[kept++] = here->event[i];
	}
	for (struct pair **at = &pairs[number % BUCKETS]; *at; at = &(*at)->next)
		if ((*at)->qp == qp)
			pair = *at;
	if (pair)
		pair->told = 1;
	UNLOCKED;
	result = REAL(int, struct ibv_qp *)(qp);
	if (result)
		return result;
	LOCKED;
	/* All three drivers remove the completions of a queue pair that is gone. */
	drop_completions(send_cq, number);
	if (recv_cq != send_cq)
		drop_completions(recv_cq, number);
	for (struct pair **at = &pairs[number % BUCKETS]; *at; at = &(*at)->next)
		if (*at == pair) {
			*at = pair->next;
			break;
		}
	UNLOCKED;
	if (pair) {
		free_slots(&pair->sends);
		free_slots(&pair->receives);
		free(pair);
	}
	return 0;
}

static int known_gid(struct ibv_ah_attr *to)
{
	if (!profile->two_gids || !to->is_global)
		return 0;
	if (to->grh.sgid_index % 2 == 0) /* RoCE v1, which rxe does not have */
		return EINVAL;
	to->grh.sgid_index /= 2;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct opened *here = changed(qp->context);
	struct ibv_qp_attr mine = *attr;
	struct pair *pair;
	int result;

	if (!here)
		return REAL(int, struct ibv_qp *, struct ibv_qp_attr *, int)(qp, attr, mask);
	if (here->dead)
		return EIO;
	if ((mask & IBV_QP_ACCESS_FLAGS) && (attr->qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) && !profile->has_atomics)
		return EOPNOTSUPP;
	if ((mask & IBV_QP_AV) && known_gid(&mine.ah_attr))
		return EINVAL;
	result = REAL(int, struct ibv_qp *, struct ibv_qp_attr *, int)(qp, &mine, mask);
	if (result || !(mask & IBV_QP_STATE))
		return result;
	LOCKED;
	pair = pair_of(qp->qp_num);
	if (pair && attr->qp_state == IBV_QPS_ERR) {
		failed(pair);
	} else if (pair && attr->qp_state == IBV_QPS_RESET) {
		drop_completions(qp->send_cq, qp->qp_num);
		drop_completions(qp->recv_cq, qp->qp_num);
		empty_slots(&pair->sends);
		empty_slots(&pair->receives);
		pair->failed = pair->told = 0;
	}
	UNLOCKED;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct opened *here = changed(qp->context);
	struct pair *pair;
	int result;
	if (here && (here->dead || profile->no_query))
		return here->dead ? EIO : EOPNOTSUPP;
	result = REAL(int, struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *)(qp, attr, mask, init);
	if (result || !here)
		return result;
	if ((mask & IBV_QP_AV) && profile->two_gids)
		attr->ah_attr.grh.sgid_index = 2 * attr->ah_attr.grh.sgid_index + 1;
	LOCKED;
	pair = pair_of(qp->qp_num);
	if (pair && attr->qp_state == IBV_QPS_ERR && !pair->failed)
		flush(pair);
	UNLOCKED;
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah_attr mine = *attr;
	if (changed(pd->context) && known_gid(&mine)) {
		errno = EINVAL;
		return NULL;
	}
	return REAL(struct ibv_ah *, struct ibv_pd *, struct ibv_ah_attr *)(pd, &mine);
}

/* librdmacm knows only the GIDs of rxe. */
static void known_by_program(struct rdma_cm_id *id, struct ibv_ah_attr *path)
{
	if (profile->two_gids && id->verbs && strcmp(id->verbs->device->name, profile->device) == 0)
		path->grh.sgid_index = 2 * path->grh.sgid_index + 1;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	int result = REAL(int, struct rdma_event_channel *, struct rdma_cm_event **)(channel, event);
	if (result == 0 && (*event)->id->ps == RDMA_PS_UDP &&
	    ((*event)->event == RDMA_CM_EVENT_ESTABLISHED || (*event)->event == RDMA_CM_EVENT_MULTICAST_JOIN))
		known_by_program((*event)->id, &(*event)->param.ud.ah_attr);
	return result;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	int result = REAL(int, struct rdma_cm_id *, struct ibv_qp_attr *, int *)(id, attr, mask);
	if (result == 0 && (*mask & IBV_QP_AV))
		known_by_program(id, &attr->ah_attr);
	return result;
}

/* ---- posting ---- */

static int is_supported(const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return profile->has_atomics;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
		return !profile->only_basic;
	case IBV_WR_RDMA_READ:
		return !profile->read_elements || wr->num_sge <= profile->read_elements;
	default:
		return 1;
	}
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *first, struct ibv_send_wr **bad)
{
	struct pair *pair;
	struct opened *here;
	struct ibv_send_wr *mine, *mine_bad = NULL, *wr, *unsupported = NULL;
	struct ibv_sge *elements;
	int count = 0, result = 0;

	for (wr = first; wr && !unsupported; wr = wr->next)
		if (is_supported(wr))
			count++;
		else
			unsupported = wr;
	mine = malloc((count + 1) * sizeof(*mine));
	elements = malloc((count + 1) * (size_t)(MOST_ELEMENTS + 1) * sizeof(*elements));
	LOCKED;
	here = opened(qp->context);
	pair = pair_of(qp->qp_num);
	wr = first;
	for (int i = 0; i < count; i++, wr = wr->next) {
		mine[i] = *wr;
		mine[i].next = i + 1 < count ? &mine[i + 1] : NULL;
		if (profile->ignores_inline)
			mine[i].send_flags &= ~IBV_SEND_INLINE;
		if (pair && pair->sends.count && (wr->opcode == IBV_WR_RDMA_READ || wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
						  wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)) {
			int written;
			struct ibv_sge *to = elements + (size_t)i * (MOST_ELEMENTS + 1);
			struct slot *slot = divert(&pair->sends, wr->sg_list, wr->num_sge, to, &written);
			if (slot) {
				slot->id = wr->wr_id;
				mine[i].wr_id = (uintptr_t)slot;
				mine[i].sg_list = to;
				mine[i].num_sge = written;
			}
		}
	}
	UNLOCKED;
	if (count && !here->dead)
		result = here->ops.post_send(qp, mine, &mine_bad);
	wr = first;
	for (int i = 0; result && i < count; i++, wr = wr->next) {
		if (&mine[i] == mine_bad)
			*bad = wr;
		if (mine_bad && &mine[i] >= mine_bad) {
			struct slot *slot;
			LOCKED;
			slot = slot_of(&pair->sends, mine[i].wr_id);
			if (slot)
				slot->used = 0;
			UNLOCKED;
		}
	}
	if (result && !mine_bad)
		*bad = NULL;
	if (!result && unsupported) {
		*bad = unsupported;
		result = EINVAL;
	}
	free(mine);
	free(elements);
	return result;
}

static int post_receives(struct slots *slots, struct ibv_qp *qp, struct ibv_srq *srq, struct ibv_recv_wr *first,
			 struct ibv_recv_wr **bad)
{
	struct opened *here;
	struct ibv_recv_wr *mine, *mine_bad = NULL, *wr;
	struct ibv_sge *elements;
	int count = 0, result = 0;

	for (wr = first; wr; wr = wr->next)
		count++;
	mine = malloc((count + 1) * sizeof(*mine));
	elements = malloc((count + 1) * (size_t)(MOST_ELEMENTS + 1) * sizeof(*elements));
	LOCKED;
	here = opened(qp ? qp->context : srq->context);
	wr = first;
	for (int i = 0; i < count; i++, wr = wr->next) {
		int written;
		struct ibv_sge *to = elements + (size_t)i * (MOST_ELEMENTS + 1);
		struct slot *slot =
			slots && slots->count ? divert(slots, wr->sg_list, wr->num_sge, to, &written) : NULL;
		mine[i] = *wr;
		mine[i].next = i + 1 < count ? &mine[i + 1] : NULL;
		if (slot) {
			slot->id = wr->wr_id;
			mine[i].wr_id = (uintptr_t)slot;
			mine[i].sg_list = to;
			mine[i].num_sge = written;
		}
	}
	UNLOCKED;
	if (count && !here->dead)
		result = qp ? here->ops.post_recv(qp, mine, &mine_bad) : here->ops.post_srq_recv(srq, mine, &mine_bad);
	wr = first;
	for (int i = 0; result && i < count; i++, wr = wr->next) {
		if (&mine[i] == mine_bad)
			*bad = wr;
		if (slots && mine_bad && &mine[i] >= mine_bad) {
			struct slot *slot;
			LOCKED;
			slot = slot_of(slots, mine[i].wr_id);
			if (slot)
				slot->used = 0;
			UNLOCKED;
		}
	}
	free(mine);
	free(elements);
	return result;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *first, struct ibv_recv_wr **bad)
{
	struct pair *pair;
	int result;
	LOCKED;
	pair = pair_of(qp->qp_num);
	UNLOCKED;
	result = post_receives(pair ? &pair->receives : NULL, qp, NULL, first, bad);
	LOCKED;
	if (pair && pair->failed)
		flush(pair);
	UNLOCKED;
	return result;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *first, struct ibv_recv_wr **bad)
{
	return post_receives(&((struct shared *)srq->srq_context)->receives, NULL, srq, first, bad);
}

/* ---- completions ---- */

static void keep(struct queue *queue, const struct ibv_wc *wc)
{
	if (queue->last == queue->room) {
		queue->room = queue->room ? 2 * queue->room : 64;
		queue->kept = realloc(queue->kept, queue->room * sizeof(*wc));
	}
	queue->kept[queue->last++] = *wc;
}

/* Takes all completions from the real queue. */
static void drain(struct queue *queue)
{
	struct ibv_wc wc;
	while (!queue->silent && opened(queue->cq->context)->ops.poll_cq(queue->cq, 1, &wc) == 1)
		keep(queue, &wc);
}

static struct slot *slot_of_completion(struct pair *pair, uint64_t id, int *receive)
{
	struct slot *slot = slot_of(&pair->sends, id);
	*receive = 0;
	if (slot)
		return slot;
	*receive = 1;
	return slot_of(pair->qp->srq ? &((struct shared *)pair->qp->srq->srq_context)->receives : &pair->receives, id);
}

static void drop_completions(struct ibv_cq *cq, uint32_t number)
{
	struct queue *queue = cq->cq_context;
	struct pair *pair = pair_of(number);
	unsigned kept;
	drain(queue);
	kept = queue->first;
	for (unsigned i = queue->first; i < queue->last; i++)
		if (queue->kept[i].qp_num != number) {
			queue->kept[kept++] = queue->kept[i];
		} else if (pair) {
			int receive;
			struct slot *slot = slot_of_completion(pair, queue->kept[i].wr_id, &receive);
			if (slot)
				slot->used = 0;
		}
	queue->last = kept;
}

/* What the driver of the adapter makes of a completion. */
static void translate(struct ibv_wc *wc)
{
	struct pair *pair = pair_of(wc->qp_num);
	struct slot *slot;
	int receive = 0;
	if (!pair)
		return;
	slot = slot_of_completion(pair, wc->wr_id, &receive);
	if (slot) {
		wc->wr_id = slot->id;
		/* The answer to a READ has its length in the request. */
		if (wc->status == IBV_WC_SUCCESS && !(receive && wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM))
			deliver(slot, receive ? wc->byte_len : slot->length);
		slot->used = 0;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		if (!pair->failed)
			flush(pair);
		if (profile->stale_failures) {
			/* Wrong for every request: those of the send queue look like receives and the reverse. */
			wc->opcode = slot && receive ? IBV_WC_RDMA_READ : IBV_WC_RECV_RDMA_WITH_IMM;
			wc->byte_len = 0x7eadbeef;
			wc->imm_data = htobe32(0xdeadbeef);
			wc->src_qp = 0xbeef;
			wc->pkey_index = 0xbeef;
			wc->slid = 0xbeef;
		}
	}
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	struct queue *queue = cq->cq_context;
	struct opened *here;
	int count = 0;
	LOCKED;
	here = opened(cq->context);
	while (!here->dead && count < most) {
		if (queue->first < queue->last) {
			wc[count] = queue->kept[queue->first++];
			if (queue->first == queue->last)
				queue->first = queue->last = 0;
		} else if (queue->silent || here->ops.poll_cq(cq, 1, &wc[count]) != 1) {
			break;
		}
		translate(&wc[count++]);
	}
	UNLOCKED;
	return count;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *user, struct ibv_comp_channel *channel,
			     int vector)
{
	struct opened *here = creating(context);
	struct queue *queue;
	struct ibv_cq *cq = NULL;
	if (here && here->dead) {
		errno = EIO;
		return NULL;
	}
	if (here && profile->powers_of_two)
		cq = REAL(struct ibv_cq *, struct ibv_context *, int, void *, struct ibv_comp_channel *, int)(
			context, power_of_two(cqe + 1) - 1, user, channel, vector);
	if (!cq)
		cq = REAL(struct ibv_cq *, struct ibv_context *, int, void *, struct ibv_comp_channel *, int)(
			context, cqe, user, channel, vector);
	if (!cq || !here)
		return cq;
	queue = calloc(1, sizeof(*queue));
	queue->cq = cq;
	queue->context = user;
	cq->cq_context = queue;
	LOCKED;
	queue->next = queues;
	queues = queue;
	UNLOCKED;
	return cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	struct opened *here = changed(cq->context);
	struct queue *queue = cq->cq_context;
	unsigned waiting;
	int result;
	if (!here)
		return REAL(int, struct ibv_cq *, int)(cq, cqe);
	if (here->dead)
		return EIO;
	if (!profile->has_resize)
		return EOPNOTSUPP;
	LOCKED;
	waiting = queue->last - queue->first;
	UNLOCKED;
	if (waiting > (unsigned)cqe)
		return EINVAL;
	result = REAL(int, struct ibv_cq *, int)(cq, profile->powers_of_two ? power_of_two(cqe + 1) - 1 : cqe);
	return result;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user)
{
	int result = REAL(int, struct ibv_comp_channel *, struct ibv_cq **, void **)(channel, cq, user);
	if (result == 0 && changed((*cq)->context))
		*user = ((struct queue *)(*cq)->cq_context)->context;
	return result;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct opened *here = changed(cq->context);
	struct queue *queue = cq->cq_context;
	int result = REAL(int, struct ibv_cq *)(cq);
	if (result || !here)
		return result;
	LOCKED;
	for (struct queue **at = &queues; *at; at = &(*at)->next)
		if (*at == queue) {
			*at = queue->next;
			break;
		}
	UNLOCKED;
	free(queue->kept);
	free(queue);
	return 0;
}

/* ---- shared receive queues ---- */

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ibv_srq_init_attr more = *init;
	struct opened *here = creating(pd->context);
	struct shared *shared;
	struct ibv_srq *srq;
	if (!here)
		return REAL(struct ibv_srq *, struct ibv_pd *, struct ibv_srq_init_attr *)(pd, init);
	if (here->dead || !profile->has_shared) {
		errno = here->dead ? EIO : EOPNOTSUPP;
		return NULL;
	}
	if (profile->in_completion && more.attr.max_sge < MOST_ELEMENTS - 5) /* rxe allows 27 */
		more.attr.max_sge++;
	srq = REAL(struct ibv_srq *, struct ibv_pd *, struct ibv_srq_init_attr *)(pd, &more);
	if (!srq)
		return NULL;
	shared = calloc(1, sizeof(*shared));
	shared->elements = init->attr.max_sge;
	make_slots(&shared->receives, pd, more.attr.max_wr, more.attr.max_sge);
	srq->srq_context = shared;
	more.attr.max_sge = init->attr.max_sge;
	init->attr = more.attr;
	return srq;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	int result = REAL(int, struct ibv_srq *, struct ibv_srq_attr *)(srq, attr);
	if (result == 0 && changed(srq->context))
		attr->max_sge = ((struct shared *)srq->srq_context)->elements;
	return result;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct opened *here = changed(srq->context);
	struct shared *shared = srq->srq_context;
	int result = REAL(int, struct ibv_srq *)(srq);
	if (result || !here)
		return result;
	free_slots(&shared->receives);
	free(shared);
	return 0;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	if (profile->only_basic || (profile->first_windows_only && type != IBV_MW_TYPE_1)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return changed(pd->context)->ops.alloc_mw(pd, type);
}

/* ---- devices ---- */

static void describe(struct ibv_device_attr *attr)
{
	attr->vendor_id = profile->vendor;
	attr->vendor_part_id = profile->part;
	if (!profile->has_atomics)
		attr->atomic_cap = IBV_ATOMIC_NONE;
	if (!profile->has_shared)
		attr->max_srq = attr->max_srq_wr = attr->max_srq_sge = 0;
	if (profile->first_windows_only)
		attr->device_cap_flags &= ~(IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	if (profile->only_basic) {
		attr->device_cap_flags &= IBV_DEVICE_RC_RNR_NAK_GEN;
		attr->max_mw = 0;
	}
	if (profile->read_elements)
		attr->max_sge_rd = profile->read_elements;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct opened *here = changed(context);
	int result = here && here->dead ? EIO : REAL(int, struct ibv_context *, struct ibv_device_attr *)(context, attr);
	if (result == 0 && here)
		describe(attr);
	return result;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	struct opened *here = changed(context);
	int result = here->dead ? EIO : here->query_device_ex(context, input, attr, size);
	if (result == 0)
		describe(&attr->orig_attr);
	return result;
}

static int query_port_ex(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct opened *here = changed(context);
	int result = here->dead ? EIO : here->query_port(context, port, attr, size);
	if (result == 0 && profile->two_gids)
		attr->gid_tbl_len = GIDS;
	return result;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	struct opened *here = changed(context);
	int result = here && here->dead
			     ? EIO
			     : REAL(int, struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *)(context, port,
													attr);
	if (result == 0 && here && profile->two_gids)
		((struct ibv_port_attr *)attr)->gid_tbl_len = GIDS;
	return result;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	if (changed(context) && profile->two_gids) {
		if (index < 0 || index >= GIDS) {
			errno = EINVAL;
			return -1;
		}
		index /= 2;
	}
	return REAL(int, struct ibv_context *, uint8_t, int, union ibv_gid *)(context, port, index, gid);
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t room, uint32_t flags,
			     size_t size)
{
	ssize_t count = REAL(ssize_t, struct ibv_context *, struct ibv_gid_entry *, size_t, uint32_t, size_t)(
		context, entries, room, flags, size);
	if (count <= 0 || !changed(context) || !profile->two_gids)
		return count;
	if ((size_t)count * 2 > room)
		return -EINVAL;
	for (ssize_t i = count - 1; i >= 0; i--) {
		entries[2 * i + 1] = entries[i];
		entries[2 * i + 1].gid_index = 2 * entries[2 * i + 1].gid_index + 1;
		entries[2 * i] = entries[2 * i + 1];
		entries[2 * i].gid_index--;
		entries[2 * i].gid_type = IBV_GID_TYPE_ROCE_V1;
	}
	return 2 * count;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = REAL(struct ibv_device **, int *)(count);
	for (int i = 0; list && list[i]; i++)
		if (strcmp(list[i]->name, "rxe0") == 0)
			strcpy(list[i]->name, profile->device);
	return list;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = REAL(struct ibv_context *, struct ibv_device *)(device);
	struct verbs_context *extended;
	struct opened *here;
	struct epoll_event readable = { .events = EPOLLIN };
	int both;
	if (!context || strcmp(device->name, profile->device) != 0)
		return context;
	here = calloc(1, sizeof(*here));
	here->context = context;
	here->ops = context->ops;
	context->ops.poll_cq = poll_cq;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.post_srq_recv = post_srq_recv;
	context->ops.alloc_mw = alloc_mw;
	extended = verbs_get_ctx(context);
	here->query_device_ex = extended->query_device_ex;
	here->query_port = extended->query_port;
	extended->query_device_ex = query_device_ex;
	extended->query_port = query_port_ex;

	here->real_events = context->async_fd;
	here->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	both = epoll_create1(EPOLL_CLOEXEC);
	if (here->wake < 0 || both < 0 || epoll_ctl(both, EPOLL_CTL_ADD, here->wake, &readable) ||
	    epoll_ctl(both, EPOLL_CTL_ADD, here->real_events, &readable) ||
	    fcntl(here->real_events, F_SETFL, fcntl(here->real_events, F_GETFL) | O_NONBLOCK))
		abort();
	here->all_events = context->async_fd = both;
	LOCKED;
	here->next = contexts;
	contexts = here;
	UNLOCKED;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	struct opened *here = changed(context);
	if (here) {
		LOCKED;
		for (struct opened **at = &contexts; *at; at = &(*at)->next)
			if (*at == here) {
				*at = here->next;
				break;
			}
		UNLOCKED;
		close(here->all_events);
		close(here->wake);
		context->async_fd = here->real_events;
		free(here->event);
		free(here);
	}
	return REAL(int, struct ibv_context *)(context);
}

/* Never blocks, as rdmacomm wants it. */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	int (*get)(struct ibv_context *, struct ibv_async_event *) = real("ibv_get_async_event");
	struct opened *here = changed(context);
	uint64_t count;
	int error = 0, result = 0;
	if (!here)
		return get(context, event);
	LOCKED;
	if (here->events > 0) {
		*event = here->event[0];
		memmove(here->event, here->event + 1, --here->events * sizeof(*event));
	} else {
		context->async_fd = here->real_events;
		result = get(context, event);
		error = errno;
	}
	if (here->events == 0 && read(here->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		abort();
	errno = error;
	if (result == 0 && event->event_type == IBV_EVENT_CQ_ERR && profile->silent_overrun) {
		struct queue *queue = event->element.cq->cq_context;
		drain(queue);
		queue->silent = 1;
	}
	UNLOCKED;
	return result;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	/* The kernel has not counted those that are made up. */
	if (event->event_type == IBV_EVENT_QP_LAST_WQE_REACHED || event->event_type == IBV_EVENT_DEVICE_FATAL)
		return;
	((void (*)(struct ibv_async_event *))real(__func__))(event);
}

/*
 * From now on the device is dead, for all contexts that are open: it completes nothing, and control calls fail.
 *
 * Returns how many contexts there are.
 */
int adapter_dies(void)
{
	int count = 0;
	LOCKED;
	for (struct opened *each = contexts; each; each = each->next, count++) {
		each->dead = 1;
		happen(each, (struct ibv_async_event){ .event_type = IBV_EVENT_DEVICE_FATAL });
	}
	UNLOCKED;
	return count;
}
