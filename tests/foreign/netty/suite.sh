# shellcheck shell=bash
# Netty's own tests of its transports.

# Cases that are left out, each with its reason.
left_out_of_netty() {
    # One end is a plain java.net.Socket, which no provider of channels can replace: both ends must be rsockets or
    # neither.
    echo '.*\.SocketShutdownOutputByPeerTest#testShutdownOutput(WithoutOption)?'
    echo '.*\.SocketShutdownOutputBySelfTest#testShutdown(SoLingerNoAssertError|Output|OutputAfterClosed|OutputSoLingerNoAssertError)'
    echo '.*\.SocketChannelEOFTest#.*'
    # Wants an address where packets vanish; here the network answers. Fails over TCP as well.
    echo '.*\.SocketConnectionAttemptTest#testConnectCancellation'
    # Wants OpenSSL through netty-tcnative. Fails over TCP as well.
    echo '.*\.SocketSslSessionReuseTest#testSslSessionTrustManagerResumption'
}

netty() {
    local path pattern='.*\.(Socket|ServerSocket|Composite|Traffic|WriteBefore).*Test' select=() status=0
    path=$(classpath netty)
    [[ ! $short ]] || pattern='.*\.(SocketEcho|SocketHalfClosed|SocketGathering|SocketAutoRead|SocketCancelWrite)Test'
    while read -r each; do select+=("--exclude-methodname=$each"); done < <(left_out_of_netty)
    "${java[@]}" -Dio.netty.leakDetection.level=paranoid -cp "$path" org.junit.platform.console.ConsoleLauncher \
        execute -p io.netty.testsuite.transport.socket -n "$pattern" "${select[@]}" \
        --details=summary --disable-banner --disable-ansi-colors >"$out/netty.log" 2>&1 || status=$?
    junit_counts netty "$out/netty.log" || status=1
    if grep -q 'LEAK:' "$out/netty.log"; then
        echo "[ERROR] foreign: netty: buffers were not released; see $out/netty.log"
        status=1
    fi
    return $status
}
