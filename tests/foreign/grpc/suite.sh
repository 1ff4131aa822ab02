# shellcheck shell=bash
# gRPC's interoperability test.

# The cases of the client that need neither an account in a cloud nor a server with calls that that of Java lacks:
# cacheable_unary, client_compressed_unary and client_compressed_streaming fail over TCP as well.
grpc_cases() {
    if [[ $short ]]; then
        echo ping_pong
    else
        echo empty_unary large_unary server_compressed_unary client_streaming server_streaming \
            server_compressed_streaming ping_pong empty_stream custom_metadata status_code_and_message \
            special_status_message unimplemented_method unimplemented_service cancel_after_begin \
            cancel_after_first_response timeout_on_sleeping_server very_large_request pick_first_unary rpc_soak channel_soak
    fi
}

grpc() {
    local path tls failed=0
    path=$(classpath grpc)
    for tls in false true; do grpc_with "$path" "$tls" || failed=1; done
    return $failed
}

# Runs the cases against one server; true for TLS with the certificates of the test.
grpc_with() {
    local path=$1 tls=$2 port server log case passed=0 failed=0
    port=$((20000 + RANDOM % 10000))
    log=$out/grpc-tls-$tls
    "${java[@]}" -cp "$path" io.grpc.testing.integration.TestServiceServer --port="$port" --use_tls="$tls" \
        >"$log.server.log" 2>&1 &
    server=$!
    await_server grpc $server 'Server started' "$log.server.log" || return 1
    for case in $(grpc_cases); do
        if timeout 120 "${java[@]}" -cp "$path" io.grpc.testing.integration.TestServiceClient --server_host=localhost \
            --server_port="$port" --use_tls="$tls" --use_test_ca="$tls" --server_host_override=foo.test.google.fr \
            --test_case="$case" >"$log.$case.log" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "[ERROR] foreign: grpc: $case failed; see $log.$case.log"
        fi
    done
    kill $server
    wait $server 2>/dev/null || true
    echo "foreign: grpc, TLS $tls: $passed cases successful, $failed failed"
    ((passed > 0 && failed == 0))
}
