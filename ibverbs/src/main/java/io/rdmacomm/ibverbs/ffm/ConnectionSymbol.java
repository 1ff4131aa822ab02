package io.rdmacomm.ibverbs.ffm;

/// The functions of librdmacm that are used here.
enum ConnectionSymbol {
    CREATE_EVENT_CHANNEL("rdma_create_event_channel", true),
    DESTROY_EVENT_CHANNEL("rdma_destroy_event_channel", true),
    GET_CM_EVENT("rdma_get_cm_event", true),
    ACK_CM_EVENT("rdma_ack_cm_event", true),
    CREATE_ID("rdma_create_id", true),
    DESTROY_ID("rdma_destroy_id", true),
    BIND_ADDR("rdma_bind_addr", true),
    LISTEN("rdma_listen", true),
    RESOLVE_ADDR("rdma_resolve_addr", true),
    RESOLVE_ROUTE("rdma_resolve_route", true),
    INIT_QP_ATTR("rdma_init_qp_attr", true),
    CONNECT("rdma_connect", true),
    ESTABLISH("rdma_establish", false),
    ACCEPT("rdma_accept", true),
    REJECT("rdma_reject", true),
    DISCONNECT("rdma_disconnect", true);

    private final String cName;
    private final boolean required;

    ConnectionSymbol(String cName, boolean required) {
        this.cName = cName;
        this.required = required;
    }

    String cName() {
        return cName;
    }

    /// Whether a library without it is of no use. A call of another one that is missing fails with EOPNOTSUPP.
    boolean isRequired() {
        return required;
    }
}
