# shellcheck shell=bash
# Servers that each use channels and selectors in their own way, with a client in another JVM: without the agent, with
# rules for nothing, and with rules for all.

servers() {
    local path classes=$out/servers-classes mebibytes=32 status=0 program rules
    local programs=(Grizzly Tomcat Undertow Vert.x Hazelcast) all_rules=(none '!*' '*')
    [[ ! $short ]] || mebibytes=4 programs=(Grizzly) all_rules=('!*' '*')
    path=$(classpath servers)
    rm -rf "$classes" "$out/servers-data"
    mkdir -p "$out/servers-data"
    "$JAVA_HOME/bin/javac" -nowarn -d "$classes" -cp "$path" "$here"/servers/*.java >"$out/servers-javac.log" 2>&1 ||
        { cat "$out/servers-javac.log" && return 1; }
    for program in "${programs[@]}"; do
        for rules in "${all_rules[@]}"; do server_with "$program" "$rules" || status=1; done
    done
    rm -rf "$out/servers-data"
    return $status
}

# What Hazelcast asks for when it starts. With it, Hazelcast and Netty also look into the selectors of the JDK.
server_options=(--add-modules java.se --add-exports java.base/jdk.internal.ref=ALL-UNNAMED
    --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED
    --add-opens java.management/sun.management=ALL-UNNAMED
    --add-opens jdk.management/com.sun.management.internal=ALL-UNNAMED)

# Runs a program and its client with rules, or without the agent.
server_with() {
    local program=$1 rules=$2 name folder log status=0
    case $rules in
        none) name="without the agent" folder=$report/$program-none over_rdma=() ;;
        '!*') name="rules for nothing" folder=$report/$program-nothing && with_agent "$rules" "$folder" ;;
        *) name="rules for all" folder=$report/$program-all && with_agent "$rules" "$folder" ;;
    esac
    log=$out/servers-${folder##*/}.log
    timeout 400 "$JAVA_HOME/bin/java" -Xmx1g -XX:+UseSerialGC "${over_rdma[@]}" "${server_options[@]}" \
        -cp "$path:$classes" Trial "$program" "$mebibytes" "$out/servers-data" >"$log" 2>&1 || status=1
    if ((status == 0)); then
        sed -n "s/^$program: .*; stopped in /foreign: servers: $name: &/p" "$log"
        [[ $rules == none ]] || served_as "$rules" "$folder" || status=1
    fi
    ((status == 0)) || echo "[ERROR] foreign: servers: $program, $name: failed; see $log and $folder"
    return $status
}

# Fails unless both JVMs have reported, and all connections went over RDMA, or none. The report may be empty where no
# rule can name an address.
served_as() {
    local rules=$1 folder=$2 reports=("$2"/*.txt) report
    ((${#reports[@]} == 2)) || return 1
    if [[ $rules == '*' ]]; then
        for report in "${reports[@]}"; do grep -qF ': RDMA (' "$report" || return 1; done
        ! grep -hF ': TCP' "${reports[@]}"
    else
        ! grep -hF ': RDMA' "${reports[@]}"
    fi
}
