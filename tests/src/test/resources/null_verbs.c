/*
 * A verbs library whose device does nothing: a post counts, a poll fills in what was counted. What is left of the
 * time of a post and a poll is the time of the calls. loop_nanos() is the same loop in C.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/eventfd.h>
#include <infiniband/verbs.h>

#undef ibv_query_port
#undef ibv_reg_mr

/* The file is an absolute path, so that it is one that can be opened. */
static struct ibv_device device = { .name = "null0", .dev_name = "/dev/null", .transport_type = IBV_TRANSPORT_IB };
static struct ibv_context *opened;

struct null_queue {
	struct ibv_cq cq;
	uint64_t id;
	unsigned pending;
};

static int null_poll(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	struct null_queue *queue = (struct null_queue *)cq;
	if (!queue->pending || max < 1)
		return 0;
	queue->pending--;
	wc->wr_id = queue->id;
	wc->status = IBV_WC_SUCCESS;
	wc->opcode = IBV_WC_RDMA_WRITE;
	wc->vendor_err = 0;
	wc->byte_len = 8;
	wc->qp_num = 1;
	wc->wc_flags = 0;
	return 1;
}

static int null_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct null_queue *queue = (struct null_queue *)qp->send_cq;
	(void)bad;
	for (; wr; wr = wr->next) {
		queue->id = wr->wr_id;
		queue->pending++;
	}
	return 0;
}

/* Posts and polls as PostPollBenchmark does, and says how long one round took. */
double loop_nanos(long rounds)
{
	struct null_queue queue = { .cq.context = opened };
	struct ibv_qp qp = { .context = opened, .send_cq = &queue.cq, .qp_num = 1 };
	struct ibv_sge element = { .addr = 4096, .length = 8, .lkey = 1 };
	struct ibv_send_wr wr = { .wr_id = 1, .sg_list = &element, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc[16];
	struct ibv_send_wr *bad;
	struct timespec begin, end;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < rounds; i++) {
		int count = 0;
		ibv_post_send(&qp, &wr, &bad);
		while (count < 1)
			count += ibv_poll_cq(&queue.cq, 16, wc);
		if (wc[0].status != IBV_WC_SUCCESS)
			abort();
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / rounds;
}

/* ---- what libibverbs exports ---- */

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(2, sizeof(*list));
	list[0] = &device;
	*count = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }
__be64 ibv_get_device_guid(struct ibv_device *dev) { return dev == &device; }

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	opened = calloc(1, sizeof(*opened));
	opened->device = dev;
	opened->num_comp_vectors = 1;
	opened->async_fd = eventfd(0, EFD_NONBLOCK);
	opened->ops.poll_cq = null_poll;
	opened->ops.post_send = null_post_send;
	return opened;
}

int ibv_close_device(struct ibv_context *context) { free(context); return 0; }
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	(void)context, (void)event;
	errno = EAGAIN;
	return -1;
}
void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	attr->max_qp = attr->max_cq = attr->max_mr = attr->max_pd = 100;
	attr->max_qp_wr = attr->max_cqe = 65536;
	attr->max_sge = attr->max_sge_rd = 32;
	attr->max_mr_size = 1ull << 40;
	attr->phys_port_cnt = 1;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;
	(void)context, (void)port;
	attr->state = IBV_PORT_ACTIVE;
	attr->max_mtu = attr->active_mtu = IBV_MTU_4096;
	attr->gid_tbl_len = 1;
	attr->max_msg_sz = 1u << 31;
	attr->link_layer = IBV_LINK_LAYER_INFINIBAND;
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	(void)context, (void)port, (void)index;
	gid->raw[15] = 1;
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context, (void)port, (void)index;
	*pkey = 0xffff;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));
	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) { free(pd); return 0; }

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));
	(void)access;
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = mr->rkey = 1;
	return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr) { free(mr); return 0; }
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) { (void)context; errno = ENOSYS; return NULL; }
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) { (void)channel; return ENOSYS; }

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	struct null_queue *queue = calloc(1, sizeof(*queue));
	(void)vector;
	queue->cq.context = context;
	queue->cq.channel = channel;
	queue->cq.cq_context = cq_context;
	queue->cq.cqe = cqe;
	return &queue->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq) { free(cq); return 0; }
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	(void)channel, (void)cq, (void)cq_context;
	errno = ENOSYS;
	return -1;
}
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count) { (void)cq, (void)count; }

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));
	qp->context = pd->context;
	qp->pd = pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->qp_num = 1;
	qp->qp_type = attr->qp_type;
	return qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask) { (void)qp, (void)attr, (void)mask; return 0; }
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	(void)mask, (void)init;
	attr->qp_state = qp->state;
	return 0;
}
int ibv_destroy_qp(struct ibv_qp *qp) { free(qp); return 0; }
