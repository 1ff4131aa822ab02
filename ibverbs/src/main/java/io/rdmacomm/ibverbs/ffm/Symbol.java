package io.rdmacomm.ibverbs.ffm;

/// The functions of libibverbs that have a symbol and are used here; the inline ones are in [ContextOps].
enum Symbol {
    GET_DEVICE_LIST("ibv_get_device_list", true),
    FREE_DEVICE_LIST("ibv_free_device_list", true),
    GET_DEVICE_GUID("ibv_get_device_guid", true),
    OPEN_DEVICE("ibv_open_device", true),
    CLOSE_DEVICE("ibv_close_device", true),
    GET_ASYNC_EVENT("ibv_get_async_event", true),
    ACK_ASYNC_EVENT("ibv_ack_async_event", true),
    QUERY_DEVICE("ibv_query_device", true),
    QUERY_PORT("ibv_query_port", true),
    QUERY_GID("ibv_query_gid", true),
    QUERY_PKEY("ibv_query_pkey", true),
    QUERY_GID_TABLE("_ibv_query_gid_table", false),
    ALLOC_PD("ibv_alloc_pd", true),
    DEALLOC_PD("ibv_dealloc_pd", true),
    REG_MR("ibv_reg_mr", true),
    REG_MR_IOVA("ibv_reg_mr_iova", false),
    REREG_MR("ibv_rereg_mr", false),
    DEREG_MR("ibv_dereg_mr", true),
    CREATE_COMP_CHANNEL("ibv_create_comp_channel", true),
    DESTROY_COMP_CHANNEL("ibv_destroy_comp_channel", true),
    CREATE_CQ("ibv_create_cq", true),
    RESIZE_CQ("ibv_resize_cq", false),
    DESTROY_CQ("ibv_destroy_cq", true),
    GET_CQ_EVENT("ibv_get_cq_event", true),
    ACK_CQ_EVENTS("ibv_ack_cq_events", true),
    CREATE_SRQ("ibv_create_srq", false),
    MODIFY_SRQ("ibv_modify_srq", false),
    QUERY_SRQ("ibv_query_srq", false),
    DESTROY_SRQ("ibv_destroy_srq", false),
    CREATE_QP("ibv_create_qp", true),
    MODIFY_QP("ibv_modify_qp", true),
    QUERY_QP("ibv_query_qp", true),
    DESTROY_QP("ibv_destroy_qp", true),
    CREATE_AH("ibv_create_ah", false),
    DESTROY_AH("ibv_destroy_ah", false);

    private final String cName;
    private final boolean required;

    Symbol(String cName, boolean required) {
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
