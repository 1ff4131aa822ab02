# shellcheck shell=bash
# ZooKeeper's own tests with its NIO server and client.

zookeeper() {
    local path data=$out/zookeeper-data status=0 case select=() sockets
    local cases=(SyncCallTest SessionTest WatcherTest)
    [[ $short ]] || cases+=(ClientTest AsyncTest AsyncOpsTest ACLTest ChrootTest ChrootAsyncTest CreateTest EventTypeTest
        GetChildren2Test MultiOperationTest NullDataTest PersistentWatcherTest PersistentRecursiveWatcherTest
        SessionInvalidationTest SessionTimeoutTest StatTest WatcherFuncTest ClientHammerTest FourLetterWordsTest)
    [[ ! $short ]] || cases=(SyncCallTest StatTest NullDataTest)
    path=$(classpath zookeeper)
    # They ask the server for its state with plain sockets.
    sockets=$(channel_sockets)
    for case in "${cases[@]}"; do select+=(-c "org.apache.zookeeper.test.$case"); done
    # Of the password "test" of the administrator, as in ZooKeeper's own build.
    local digest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=
    # Its watcher wakes the test before it adds the event that the test looks for.
    local excluded=org.apache.zookeeper.test.SessionTest.testSessionStateNoDupStateReporting
    rm -rf "$data"
    mkdir -p "$data"
    timeout 1200 "${java[@]}" "-javaagent:$sockets" -Dzookeeper.admin.enableServer=false \
        -Dzookeeper.4lw.commands.whitelist='*' "-Dzookeeper.DigestAuthenticationProvider.superDigest=$digest" "-Dbuild.test.dir=$data" "-Dtest.data.dir=$data" -cp "$path" \
        org.junit.platform.console.ConsoleLauncher execute "${select[@]}" \
        "--exclude-methodname=.*${excluded##*.}.*" --details=summary --disable-banner --disable-ansi-colors >"$out/zookeeper.log" 2>&1 || status=1
    junit_counts zookeeper "$out/zookeeper.log" || status=1
    [[ $short ]] || echo "foreign: zookeeper: excluded: $excluded"
    ((status == 0)) || echo "[ERROR] foreign: zookeeper: some failed; see $out/zookeeper.log"
    rm -rf "$data"
    return $status
}
