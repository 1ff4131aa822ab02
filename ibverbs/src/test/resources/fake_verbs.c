/*
 * A verbs library without a device: it does in memory what libibverbs and a driver do, and logs its calls. Tests call
 * the functions that begin with fake_.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define RING 65536

/* A short message that came with its completion. */
struct fake_inline {
	char *to;
	unsigned length;
	char bytes[32];
};

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc ring[RING];
	struct fake_inline inlined[RING];
	unsigned head, tail;
	int armed, got;
};

struct fake_receives {
	struct ibv_recv_wr ring[RING];
	struct ibv_sge sges[RING];
	unsigned head, tail, depth;
};

struct fake_srq {
	struct ibv_srq srq;
	struct ibv_srq_attr attr;
	struct fake_receives receives;
};

struct fake_qp {
	struct ibv_qp qp;
	struct ibv_qp_attr attr;
	int sig_all;
	struct fake_receives receives;
};

/* ---- control by the test ---- */

static char log_text[1 << 16];
static size_t log_length;
static int log_off;
static struct { void *at; char name[16]; } objects[4096];
static int object_count;
static char fail_function[64];
static int fail_errno, fail_times;
static int refuse_index = -2, refuse_result;
static int next_status;
static int keeps;
static int forgets;
static int device_count = 1;
static int port_count = 1;
static int list_errno;
static int transport = IBV_TRANSPORT_IB;
static unsigned device_flags; /* besides the usual ones */
static int vendor = 0x1234;
static size_t extended_bytes = sizeof(struct verbs_context);
static int next_key = 0x100;
static int next_qp = 0x11;

/* How a kind of adapter differs from the devices in software. */
static const struct profile {
	const char *name;
	unsigned inline_scatter; /* messages up to this length are in the completion, and ibv_poll_cq copies them */
	int no_resize;           /* there is no ibv_resize_cq */
	int no_atomics;          /* that right is rejected */
	int ignores_inline;      /* IBV_SEND_INLINE has no effect, but is granted */
	int vendor;
} profiles[] = {
	{ .name = "software" },
	{ .name = "mlx5", .inline_scatter = 32, .no_atomics = 1 /* as a virtual function */, .vendor = 0x2c9 },
	{ .name = "mana", .no_resize = 1, .no_atomics = 1, .ignores_inline = 1, .vendor = 0x1414 },
};
static const struct profile *profile = profiles;
static int most_polled;
static int wild_copies; /* of ibv_poll_cq to memory that is not there */

void fake_reset(void)
{
	log_length = 0;
	log_text[0] = 0;
	object_count = 0;
	fail_function[0] = 0;
	refuse_index = -2;
	next_status = 0;
	keeps = 0;
	forgets = 0;
	device_count = 1;
	port_count = 1;
	list_errno = 0;
	transport = IBV_TRANSPORT_IB;
	device_flags = 0;
	vendor = 0x1234;
	log_off = 0;
	extended_bytes = sizeof(struct verbs_context);
	profile = profiles;
	wild_copies = 0;
	most_polled = 0;
}

int fake_profile(const char *name)
{
	for (unsigned i = 0; i < sizeof(profiles) / sizeof(*profiles); i++)
		if (strcmp(profiles[i].name, name) == 0) {
			profile = &profiles[i];
			vendor = profile->vendor;
			return 1;
		}
	return 0;
}

int fake_most_polled(void) { return most_polled; }
int fake_wild_copies(void) { return wild_copies; }

/* Whether there is memory at this address. */
int fake_is_mapped(uintptr_t address)
{
	unsigned char resident;
	return mincore((void *)(address & -4096ul), 1, &resident) == 0;
}

/* Whether the page at this address takes up memory. */
int fake_is_resident(uintptr_t address)
{
	unsigned char resident = 0;
	return mincore((void *)(address & -4096ul), 1, &resident) == 0 && (resident & 1);
}

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

/* The log since the last time. Taken in one step: other threads may be writing. */
const char *fake_log(void)
{
	static char taken[sizeof(log_text)];
	pthread_mutex_lock(&log_lock);
	memcpy(taken, log_text, log_length);
	taken[log_length] = 0;
	log_length = 0;
	log_text[0] = 0;
	pthread_mutex_unlock(&log_lock);
	return taken;
}

void fake_log_off(int off) { log_off = off; }
void fake_fail(const char *function, int err, int times)
{
	strcpy(fail_function, function);
	fail_errno = err;
	fail_times = times;
}
void fake_refuse(int index, int result) { refuse_index = index; refuse_result = result; }
void fake_status(int status) { next_status = status; }
void fake_forget(int on) { forgets = on; }
void fake_keep(int on) { keeps = on; }
void fake_next_number(int number) { next_qp = number; }
void fake_devices(int count, int err) { device_count = count; list_errno = err; }
void fake_ports(int count) { port_count = count; }
void fake_extended(int bytes) { extended_bytes = bytes; }
void fake_device_flags(int flags) { device_flags = flags; }
void fake_kind(int type, int vendor_id) { transport = type; vendor = vendor_id; }

static void note(const char *format, ...)
{
	va_list args;
	if (log_off || log_length > sizeof(log_text) - 1024)
		return;
	pthread_mutex_lock(&log_lock);
	va_start(args, format);
	log_length += vsnprintf(log_text + log_length, 1000, format, args);
	va_end(args);
	log_text[log_length++] = '\n';
	log_text[log_length] = 0;
	pthread_mutex_unlock(&log_lock);
}

static void *named(void *at, const char *kind)
{
	int i = object_count++;
	objects[i].at = at;
	snprintf(objects[i].name, sizeof(objects[i].name), "%s%d", kind, i);
	return at;
}

static const char *n(const void *at)
{
	for (int i = object_count - 1; i >= 0; i--)
		if (objects[i].at == at)
			return objects[i].name;
	return at ? "?" : "0";
}

/* Whether this call should fail; sets errno then. */
static int failing(const char *function)
{
	if (strcmp(function, fail_function) != 0)
		return 0;
	if (--fail_times == 0)
		fail_function[0] = 0;
	errno = fail_errno;
	return fail_errno;
}

/* The first lines of creators, which return NULL and set errno, and of functions that return a positive errno. */
#define CREATOR() do { if (failing(__func__)) return NULL; } while (0)
#define POSITIVE() do { int e = failing(__func__); errno = 0; if (e) return e; } while (0)
#define MINUS_ONE() do { if (failing(__func__)) return -1; } while (0)

/* ---- data path ---- */

static void complete_with(struct ibv_cq *ibcq, struct ibv_wc wc, struct fake_inline message)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	cq->inlined[cq->tail % RING] = message;
	cq->ring[cq->tail++ % RING] = wc;
	if (cq->armed) {
		cq->armed = 0;
		cq->got++;
		if (write(*(int *)((char *)ibcq->channel + 16), &ibcq, sizeof(ibcq)) < 0)
			abort();
	}
}

static void complete(struct ibv_cq *ibcq, struct ibv_wc wc)
{
	complete_with(ibcq, wc, (struct fake_inline){ 0 });
}

static void copy_inline(const struct fake_inline *message)
{
	if (message->length == 0)
		return;
	if (fake_is_mapped((uintptr_t)message->to))
		memcpy(message->to, message->bytes, message->length);
	else
		wild_copies++;
}

/* Removes the completions of a queue pair that is destroyed. */
static void clean(struct ibv_cq *ibcq, uint32_t qp_num)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	unsigned kept = cq->head;
	for (unsigned i = cq->head; i != cq->tail; i++)
		if (cq->ring[i % RING].qp_num != qp_num) {
			cq->inlined[kept % RING] = cq->inlined[i % RING];
			cq->ring[kept++ % RING] = cq->ring[i % RING];
		}
	cq->tail = kept;
}

static int fake_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	int count = 0;
	if (num > most_polled)
		most_polled = num;
	if (failing("poll_cq"))
		return -1;
	while (count < num && cq->head != cq->tail) {
		copy_inline(&cq->inlined[cq->head % RING]);
		wc[count++] = cq->ring[cq->head++ % RING];
	}
	return count;
}

static int fake_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	int e = failing("req_notify_cq");
	note("req_notify_cq %s %d", n(cq), solicited_only);
	if (e)
		return e;
	((struct fake_cq *)cq)->armed = 1;
	return 0;
}

static int push_receives(struct fake_receives *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	for (int i = 0; wr; wr = wr->next, i++) {
		if (i == refuse_index || to->tail - to->head >= to->depth) {
			int result = i == refuse_index ? refuse_result : ENOMEM;
			refuse_index = -2;
			*bad = wr;
			return result;
		}
		unsigned slot = to->tail++ % RING;
		to->ring[slot] = *wr;
		if (wr->num_sge)
			to->sges[slot] = wr->sg_list[0];
	}
	return 0;
}

static int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (!log_off)
		note("post_recv %s id=%llu sge=%d", n(qp), (unsigned long long)wr->wr_id, wr->num_sge);
	return push_receives(&((struct fake_qp *)qp)->receives, wr, bad);
}

static int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (!log_off)
		note("post_srq_recv %s id=%llu sge=%d", n(srq), (unsigned long long)wr->wr_id, wr->num_sge);
	return push_receives(&((struct fake_srq *)srq)->receives, wr, bad);
}

static void deliver(struct fake_qp *qp, struct ibv_send_wr *wr)
{
	struct fake_receives *from = qp->qp.srq ? &((struct fake_srq *)qp->qp.srq)->receives : &qp->receives;
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV, .qp_num = qp->qp.qp_num };
	if (from->head == from->tail)
		return;
	unsigned slot = from->head++ % RING;
	struct fake_inline message = { .to = (char *)(uintptr_t)from->sges[slot].addr };
	unsigned length = 0;
	for (int i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	char *to = length <= profile->inline_scatter ? message.bytes : message.to;
	message.length = length <= profile->inline_scatter ? length : 0;
	for (int i = 0; i < wr->num_sge; i++) {
		memcpy(to + wc.byte_len, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		wc.byte_len += wr->sg_list[i].length;
	}
	wc.wr_id = from->ring[slot].wr_id;
	if (wr->opcode == IBV_WR_SEND_WITH_IMM) {
		wc.wc_flags = IBV_WC_WITH_IMM;
		wc.imm_data = wr->imm_data;
	}
	complete_with(qp->qp.recv_cq, wc, message);
}

static int fake_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	int result = 0;
	if (refuse_index == -1) { /* as rxe: all are accepted, and then the doorbell fails */
		refuse_index = -2;
		*bad = NULL;
		result = refuse_result;
	}
	for (int i = 0; wr; wr = wr->next, i++) {
		if (!log_off)
			note("post_send %s id=%llu op=%d flags=%d sge=%d remote=%llx key=%x imm=%x", n(ibqp),
			     (unsigned long long)wr->wr_id, wr->opcode, wr->send_flags, wr->num_sge,
			     (unsigned long long)wr->wr.rdma.remote_addr, wr->wr.rdma.rkey, be32toh(wr->imm_data));
		if (i == refuse_index) {
			refuse_index = -2;
			*bad = wr;
			return refuse_result;
		}
		struct ibv_wc wc = { .wr_id = wr->wr_id, .status = next_status, .vendor_err = 77,
				     .qp_num = ibqp->qp_num };
		if (keeps) /* as siw, in ERROR */
			continue;
		if (next_status)
			ibqp->state = IBV_QPS_ERR;
		else if (wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM)
			deliver(qp, wr);
		else if (wr->opcode == IBV_WR_RDMA_WRITE)
			memcpy((void *)(uintptr_t)wr->wr.rdma.remote_addr, (void *)(uintptr_t)wr->sg_list[0].addr,
			       wr->sg_list[0].length);
		wc.opcode = wr->opcode == IBV_WR_RDMA_WRITE ? IBV_WC_RDMA_WRITE : IBV_WC_SEND;
		if (next_status || qp->sig_all || (wr->send_flags & IBV_SEND_SIGNALED))
			complete(ibqp->send_cq, wc);
	}
	return result;
}

static struct ibv_mw *fake_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw;
	if (failing("alloc_mw"))
		return NULL;
	mw = named(calloc(1, sizeof(*mw)), "mw");
	mw->context = pd->context;
	mw->pd = pd;
	mw->rkey = next_key += 0x100;
	mw->type = type;
	note("alloc_mw %s type=%d", n(pd), type);
	return mw;
}

static int fake_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	int e = failing("bind_mw");
	note("bind_mw %s %s id=%llu flags=%d %s addr=%d length=%llu access=%d", n(qp), n(mw),
	     (unsigned long long)bind->wr_id, bind->send_flags, n(bind->bind_info.mr), bind->bind_info.addr != 0,
	     (unsigned long long)bind->bind_info.length, bind->bind_info.mw_access_flags);
	if (e)
		return e;
	mw->rkey++;
	return 0;
}

static int fake_dealloc_mw(struct ibv_mw *mw)
{
	note("dealloc_mw %s", n(mw));
	return 0;
}

/* ---- devices ---- */

static struct ibv_device devices[2] = {
	{ .node_type = IBV_NODE_CA, .name = "fake0", .dev_name = "uverbs0" },
	{ .node_type = IBV_NODE_CA, .name = "fake1", .dev_name = "uverbs0" },
};

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;
	if (list_errno) {
		errno = list_errno;
		return NULL;
	}
	list = calloc(device_count + 1, sizeof(*list));
	for (int i = 0; i < device_count; i++) {
		list[i] = &devices[i];
		devices[i].transport_type = transport;
	}
	*num_devices = device_count;
	return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }
__be64 ibv_get_device_guid(struct ibv_device *dev) { (void)dev; return htobe64(0x0102030405060708ull); }

static int async_write;

static int fake_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
				struct ibv_device_attr_ex *attr, size_t size)
{
	POSITIVE();
	if (input || size != sizeof(*attr))
		return EINVAL;
	memset(attr, 0, size);
	attr->odp_caps.general_caps = 1ull << 40 | 1;
	attr->odp_caps.per_transport_caps.rc_odp_caps = 31;
	attr->odp_caps.per_transport_caps.uc_odp_caps = 1;
	attr->odp_caps.per_transport_caps.ud_odp_caps = 2;
	attr->xrc_odp_caps = 4;
	attr->completion_timestamp_mask = ~0ull;
	attr->hca_core_clock = 156250;
	attr->device_cap_flags_ex = 1ull << 34;
	attr->tso_caps.max_tso = 262144;
	attr->tso_caps.supported_qpts = 1 << IBV_QPT_RAW_PACKET;
	attr->rss_caps.supported_qpts = 1 << IBV_QPT_UD;
	attr->rss_caps.max_rwq_indirection_tables = 11;
	attr->rss_caps.max_rwq_indirection_table_size = 2048;
	attr->rss_caps.rx_hash_fields_mask = 0x800000ff;
	attr->rss_caps.rx_hash_function = 0x81;
	attr->max_wq_type_rq = 8388608;
	attr->packet_pacing_caps.qp_rate_limit_min = 1;
	attr->packet_pacing_caps.qp_rate_limit_max = ~0u;
	attr->packet_pacing_caps.supported_qpts = 1 << IBV_QPT_RAW_PACKET | 1 << IBV_QPT_UD;
	attr->raw_packet_caps = 0xf;
	attr->tm_caps.max_rndv_hdr_size = 64;
	attr->tm_caps.max_num_tags = 127;
	attr->tm_caps.flags = IBV_TM_CAP_RC;
	attr->tm_caps.max_ops = 32768;
	attr->tm_caps.max_sge = 1;
	attr->cq_mod_caps.max_cq_count = 65535;
	attr->cq_mod_caps.max_cq_period = 4095;
	attr->max_dm_size = 131072;
	return ibv_query_device(context, &attr->orig_attr);
}

/* The part that the function of that name fills in, and the part that only the macro of that name does. */
static int fake_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	int e;
	if (size < sizeof(*attr))
		return EINVAL;
	memset(attr, 0, size);
	e = ibv_query_port(context, port, (struct _compat_ibv_port_attr *)attr);
	if (!e)
		attr->port_cap_flags2 = 0xfedc;
	return e;
}

static int fake_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	POSITIVE();
	note("modify_cq %s mask=%d count=%d period=%d", n(cq), attr->attr_mask, attr->moderate.cq_count,
	     attr->moderate.cq_period);
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	struct verbs_context *extended;
	struct ibv_context *context;
	int files[2];
	CREATOR();
	extended = calloc(1, sizeof(*extended));
	extended->sz = extended_bytes;
	extended->query_device_ex = fake_query_device_ex;
	extended->query_port = fake_query_port;
	extended->modify_cq = fake_modify_cq;
	context = named(&extended->context, "context");
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->device = dev;
	context->num_comp_vectors = 3;
	context->ops.alloc_mw = fake_alloc_mw;
	context->ops.bind_mw = fake_bind_mw;
	context->ops.dealloc_mw = fake_dealloc_mw;
	context->ops.poll_cq = fake_poll_cq;
	context->ops.req_notify_cq = fake_req_notify_cq;
	context->ops.post_srq_recv = fake_post_srq_recv;
	context->ops.post_send = fake_post_send;
	context->ops.post_recv = fake_post_recv;
	if (pipe(files))
		abort();
	context->async_fd = files[0];
	async_write = files[1];
	note("open %s", dev->name);
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	MINUS_ONE();
	note("close %s", n(context));
	close(context->async_fd);
	close(async_write);
	return 0;
}

void fake_async(int type, void *element, int port)
{
	struct ibv_async_event event = { .event_type = type };
	if (element)
		event.element.qp = element;
	else
		event.element.port_num = port;
	if (write(async_write, &event, sizeof(event)) < 0)
		abort();
}

void *fake_find(const char *name)
{
	for (int i = 0; i < object_count; i++)
		if (strcmp(objects[i].name, name) == 0)
			return objects[i].at;
	return NULL;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	MINUS_ONE();
	return read(context->async_fd, event, sizeof(*event)) == sizeof(*event) ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event) { note("ack_async %d", event->event_type); }

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	POSITIVE();
	(void)context;
	memset(attr, 0, sizeof(*attr));
	strcpy(attr->fw_ver, "1.2.3");
	attr->node_guid = htobe64(0x0102030405060708ull);
	attr->sys_image_guid = htobe64(0x1112131415161718ull);
	attr->max_mr_size = ~0ull; /* as rxe */
	attr->page_size_cap = 0xfffff000;
	attr->vendor_id = vendor;
	attr->vendor_part_id = 5;
	attr->hw_ver = 6;
	attr->max_qp = 100;
	attr->max_qp_wr = 4096;
	attr->device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	attr->device_cap_flags |= device_flags;
	attr->max_sge = 32;
	attr->max_sge_rd = 31;
	attr->max_cq = 101;
	attr->max_cqe = 65535;
	attr->max_mr = 102;
	attr->max_pd = 103;
	attr->max_qp_rd_atom = 16;
	attr->max_res_rd_atom = 1600;
	attr->max_qp_init_rd_atom = 15;
	attr->atomic_cap = profile->no_atomics ? IBV_ATOMIC_NONE : IBV_ATOMIC_HCA;
	attr->max_mw = 104;
	attr->max_mcast_grp = 107;
	attr->max_ah = 105;
	attr->max_srq = 106;
	attr->max_srq_wr = 1000;
	attr->max_srq_sge = 30;
	attr->max_pkeys = 65000;
	attr->local_ca_ack_delay = 200;
	attr->phys_port_cnt = port_count;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;
	POSITIVE();
	(void)context;
	if (port < 1 || port > port_count)
		return EINVAL;
	attr->state = IBV_PORT_ACTIVE;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	attr->gid_tbl_len = 4;
	attr->port_cap_flags = 0x12345;
	attr->max_msg_sz = 0x80000000u;
	attr->bad_pkey_cntr = 7;
	attr->qkey_viol_cntr = 8;
	attr->pkey_tbl_len = 9;
	attr->lid = 0xfffe;
	attr->sm_lid = 10;
	attr->lmc = 11;
	attr->max_vl_num = 12;
	attr->sm_sl = 13;
	attr->subnet_timeout = 14;
	attr->init_type_reply = 15;
	attr->active_width = 2;
	attr->active_speed = 4;
	attr->phys_state = 5;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	MINUS_ONE();
	(void)context;
	if (port != 1 || index > 3) {
		errno = EINVAL;
		return -1;
	}
	for (int i = 0; i < 16; i++)
		gid->raw[i] = i + index * 16;
	return 0;
}

#ifndef WITHOUT_OPTIONAL
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size)
{
	/* The second device has a VLAN, with the same link-local address as the interface under it. */
	int second = context->device == &devices[1];
	const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [14] = second, [15] = 7 };
	int e = failing(__func__);
	if (e)
		return -e;
	if (flags || entry_size != sizeof(*entries) || max_entries < 3)
		return -EINVAL;
	memset(entries, 0, 4 * sizeof(*entries));
	for (int i = 0; i < 3; i++) {
		entries[i].gid_index = i;
		entries[i].port_num = 1;
		entries[i].gid_type = i == 0 && !second ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
		entries[i].ndev_ifindex = second ? 1001 + i : 1000;
		if (i == 2)
			memcpy(entries[i].gid.raw, mapped, 16);
		else
			entries[i].gid.raw[0] = 0xfe, entries[i].gid.raw[1] = 0x80;
	}
	entries[3] = entries[2]; /* of another port */
	entries[3].port_num = 2;
	entries[3].gid.raw[15]++;
	return 4;
}
#endif

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	MINUS_ONE();
	(void)context;
	*pkey = htobe16(0x8000 + port * 16 + index);
	return 0;
}

/* ---- memory ---- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd;
	CREATOR();
	pd = named(calloc(1, sizeof(*pd)), "pd");
	pd->context = context;
	note("alloc_pd %s", n(context));
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	POSITIVE();
	note("dealloc_pd %s", n(pd));
	return 0;
}

static struct ibv_mr *new_region(struct ibv_pd *pd, void *addr, size_t length)
{
	struct ibv_mr *mr = named(calloc(1, sizeof(*mr)), "mr");
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = next_key += 0x100;
	mr->rkey = mr->lkey + 1;
	return mr;
}

/* Libraries before ibv_reg_mr_iova2 passed optional flags on, and kernels of that time rejected them. */
#define NOTHING_OPTIONAL(access) \
	do { \
		if ((access) & IBV_ACCESS_OPTIONAL_RANGE) { \
			errno = EINVAL; \
			return NULL; \
		} \
	} while (0)

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	CREATOR();
	NOTHING_OPTIONAL(access);
	note("reg_mr %s page=%d length=%zu access=%d", n(pd), ((uintptr_t)addr & 4095) == 0, length, access);
	return new_region(pd, addr, length);
}

#ifndef WITHOUT_OPTIONAL
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	CREATOR();
	NOTHING_OPTIONAL(access);
	note("reg_mr_iova %s length=%zu iova=%llu access=%d", n(pd), length, (unsigned long long)iova, access);
	return new_region(pd, addr, length);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	CREATOR();
	note("reg_mr_iova2 %s length=%zu iova=%s access=%x", n(pd), length, iova == (uintptr_t)addr ? "same" : "0", access);
	return new_region(pd, addr, length);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	CREATOR();
	if (fd < 0 || fcntl(fd, F_GETFD) < 0) {
		errno = EBADF;
		return NULL;
	}
	note("reg_dmabuf_mr %s offset=%llu length=%zu iova=%llx access=%x", n(pd), (unsigned long long)offset, length,
	     (unsigned long long)iova, access);
	return new_region(pd, (void *)(uintptr_t)offset, length);
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	if (failing(__func__))
		return IBV_REREG_MR_ERR_CMD;
	note("rereg_mr %s flags=%d %s addr=%d length=%zu access=%d", n(mr), flags, n(pd), addr != NULL, length, access);
	mr->lkey = next_key += 0x100;
	mr->rkey = mr->lkey + 1;
	return 0;
}
#endif

int ibv_dereg_mr(struct ibv_mr *mr)
{
	POSITIVE();
	note("dereg_mr %s", n(mr));
	return 0;
}

/* ---- completions ---- */

struct fake_channel {
	struct ibv_comp_channel channel;
	int write_fd;
};

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_channel *channel;
	int files[2];
	CREATOR();
	channel = named(calloc(1, sizeof(*channel)), "channel");
	if (pipe(files))
		abort();
	channel->channel.context = context;
	channel->channel.fd = files[0];
	channel->write_fd = files[1];
	note("create_comp_channel %s", n(context));
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	POSITIVE();
	note("destroy_comp_channel %s", n(channel));
	close(channel->fd);
	close(((struct fake_channel *)channel)->write_fd);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *user, struct ibv_comp_channel *channel,
			     int vector)
{
	struct fake_cq *cq;
	CREATOR();
	cq = named(calloc(1, sizeof(*cq)), "cq");
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cqe = cqe + 1;
	note("create_cq %s cqe=%d user=%s %s vector=%d", n(context), cqe, n(user), n(channel), vector);
	return &cq->cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	POSITIVE();
	if (profile->no_resize)
		return EOPNOTSUPP;
	note("resize_cq %s cqe=%d", n(cq), cqe);
	cq->cqe = cqe + 2;
	return 0;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct fake_cq *fake = (struct fake_cq *)cq;
	POSITIVE();
	note("destroy_cq %s unacknowledged=%d", n(cq), fake->got - (int)cq->comp_events_completed);
	free(fake);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user)
{
	MINUS_ONE();
	if (read(channel->fd, cq, sizeof(*cq)) != sizeof(*cq))
		return -1;
	*user = NULL;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int events) { cq->comp_events_completed += events; }

/* ---- queues ---- */

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct fake_srq *srq;
	CREATOR();
	srq = named(calloc(1, sizeof(*srq)), "srq");
	srq->srq.context = pd->context;
	srq->attr = init->attr;
	srq->receives.depth = init->attr.max_wr;
	note("create_srq %s wr=%d sge=%d limit=%d", n(pd), init->attr.max_wr, init->attr.max_sge, init->attr.srq_limit);
	return &srq->srq;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	POSITIVE();
	note("modify_srq %s wr=%d limit=%d mask=%d", n(srq), attr->max_wr, attr->srq_limit, mask);
	if (mask & IBV_SRQ_MAX_WR) {
		((struct fake_srq *)srq)->attr.max_wr = attr->max_wr + 1; /* as rxe */
		((struct fake_srq *)srq)->receives.depth = attr->max_wr;
	}
	if (mask & IBV_SRQ_LIMIT)
		((struct fake_srq *)srq)->attr.srq_limit = attr->srq_limit;
	return 0;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	POSITIVE();
	*attr = ((struct fake_srq *)srq)->attr;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	POSITIVE();
	note("destroy_srq %s", n(srq));
	free(srq);
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct fake_qp *qp;
	CREATOR();
	qp = named(calloc(1, sizeof(*qp)), "qp");
	note("create_qp %s %s %s %s send=%d/%d recv=%d/%d inline=%d type=%d all=%d", n(pd), n(init->send_cq),
	     n(init->recv_cq), n(init->srq), init->cap.max_send_wr, init->cap.max_send_sge, init->cap.max_recv_wr,
	     init->cap.max_recv_sge, init->cap.max_inline_data, init->qp_type, init->sq_sig_all);
	init->cap.max_send_wr += 2;
	if (!profile->ignores_inline)
		init->cap.max_inline_data = 100;
	qp->qp.context = pd->context;
	qp->qp.send_cq = init->send_cq;
	qp->qp.recv_cq = init->recv_cq;
	qp->qp.srq = init->srq;
	qp->qp.qp_num = next_qp++;
	qp->receives.depth = init->cap.max_recv_wr;
	qp->attr.cap = init->cap;
	qp->sig_all = init->sq_sig_all;
	return &qp->qp;
}

static void keep_attributes(struct ibv_qp_attr *to, const struct ibv_qp_attr *a, int mask)
{
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = a->en_sqd_async_notify;
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = a->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		to->pkey_index = a->pkey_index;
	if (mask & IBV_QP_PORT)
		to->port_num = a->port_num;
	if (mask & IBV_QP_QKEY)
		to->qkey = a->qkey;
	if (mask & IBV_QP_AV)
		to->ah_attr = a->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = a->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		to->timeout = a->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		to->retry_cnt = a->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		to->rnr_retry = a->rnr_retry;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = a->rq_psn;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		for (to->max_rd_atomic = 1; to->max_rd_atomic < a->max_rd_atomic;)
			to->max_rd_atomic *= 2; /* as rxe */
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = a->min_rnr_timer;
	if (mask & IBV_QP_SQ_PSN)
		to->sq_psn = a->sq_psn;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = a->dest_qp_num;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	struct ibv_ah_attr *ah = &a->ah_attr;
	POSITIVE();
	note("modify_qp %s mask=%x state=%d cur=%d mtu=%d qkey=%x rq_psn=%x sq_psn=%x dest=%x access=%d pkey=%d drain=%d "
	     "rd=%d dest_rd=%d rnr_timer=%d port=%d timeout=%d retry=%d rnr=%d", n(qp), mask, a->qp_state,
	     a->cur_qp_state, a->path_mtu, a->qkey, a->rq_psn, a->sq_psn, a->dest_qp_num, a->qp_access_flags,
	     a->pkey_index, a->en_sqd_async_notify, a->max_rd_atomic, a->max_dest_rd_atomic, a->min_rnr_timer,
	     a->port_num, a->timeout, a->retry_cnt, a->rnr_retry);
	if ((mask & IBV_QP_ACCESS_FLAGS) && (a->qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) && profile->no_atomics)
		return EOPNOTSUPP;
	if (((mask & IBV_QP_MAX_QP_RD_ATOMIC) && a->max_rd_atomic > 15) ||
	    ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && a->max_dest_rd_atomic > 16))
		return EINVAL;
	if (mask & IBV_QP_AV)
		note("av gid=%02x..%02x flow=%x sgid=%d hop=%d class=%d lid=%x sl=%d bits=%d rate=%d "
		     "global=%d port=%d", ah->grh.dgid.raw[0], ah->grh.dgid.raw[15], ah->grh.flow_label,
		     ah->grh.sgid_index, ah->grh.hop_limit, ah->grh.traffic_class, ah->dlid, ah->sl, ah->src_path_bits,
		     ah->static_rate, ah->is_global, ah->port_num);
	keep_attributes(&((struct fake_qp *)qp)->attr, a, mask);
	if (mask & IBV_QP_STATE)
		qp->state = a->qp_state;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	POSITIVE();
	note("query_qp %s mask=%x", n(qp), mask);
	memset(init, 0, sizeof(*init));
	if (!forgets) /* a driver may fill in the state alone */
		*attr = ((struct fake_qp *)qp)->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = IBV_QPS_RESET; /* as rxe: that of another time */
	attr->sq_draining = qp->state == IBV_QPS_SQD;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	POSITIVE();
	note("destroy_qp %s", n(qp));
	if (profile->inline_scatter)
		clean(qp->recv_cq, qp->qp_num);
	free(qp);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *ah)
{
	struct ibv_ah *handle;
	CREATOR();
	handle = named(calloc(1, sizeof(*handle)), "ah");
	note("create_ah %s gid=%02x..%02x flow=%x sgid=%d hop=%d class=%d lid=%x sl=%d bits=%d rate=%d global=%d "
	     "port=%d", n(pd), ah->grh.dgid.raw[0], ah->grh.dgid.raw[15], ah->grh.flow_label, ah->grh.sgid_index,
	     ah->grh.hop_limit, ah->grh.traffic_class, ah->dlid, ah->sl, ah->src_path_bits, ah->static_rate,
	     ah->is_global, ah->port_num);
	return handle;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	POSITIVE();
	note("destroy_ah %s", n(ah));
	return 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	POSITIVE();
	note("attach_mcast %s gid=%02x..%02x lid=%x", n(qp), gid->raw[0], gid->raw[15], lid);
	return 0;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	POSITIVE();
	note("detach_mcast %s gid=%02x..%02x lid=%x", n(qp), gid->raw[0], gid->raw[15], lid);
	return 0;
}
