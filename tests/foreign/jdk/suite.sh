# shellcheck shell=bash
# The JDK's own tests of channels and selectors. They come from Debian's source package of the JDK, and never into the
# project: their licence is the GPL.

# Cases that are left out, each with its reason.
left_out_of_jdk() {
    # Want urgent data, which rsockets do not have.
    echo Selector/OutOfBand.java
    echo Selector/OutOfBand.java#id0
    echo SocketChannel/OutOfBand.java
    echo SocketChannel/SendUrgentData.java
    echo SocketChannel/AdaptSocket.java
    # Wait until they see a thread in a method inside of the JDK's channels.
    echo SocketChannel/PeerReadsAfterAsyncClose.java
    echo vthread/SelectorOps.java#default
    echo vthread/SelectorOps.java#poller-modes
    echo vthread/SelectorOps.java#no-vmcontinuations
    # Wants the exception of an interrupted datagram socket that JDK 17 had. Fails over TCP as well.
    [[ $(<"$tests/version") != openjdk-17* ]] || echo etc/AdaptorCloseAndInterrupt.java
}

# Says what is missing.
jdk_failed() {
    echo "[ERROR] foreign: jdk: $*; see $out/jdk-apt.log"
    return 1
}

jdk_apt() {
    timeout 900 env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=300 \
        -o APT::Sandbox::User=root "$@" >>"$out/jdk-apt.log" 2>&1
}

# Installs the runner of the tests.
jdk_runner() {
    ! command -v jtreg >/dev/null || return 0
    command -v apt-get >/dev/null || jdk_failed "jtreg is missing, and so is apt" || return
    jdk_apt install -y --no-install-recommends jtreg7 ||
        { jdk_apt update && jdk_apt install -y --no-install-recommends jtreg7; } ||
        jdk_failed "jtreg is missing, and apt cannot install jtreg7"
}

# Downloads the source package of a JDK from a release of Debian, on the mirror of this machine, and unpacks the tests.
jdk_fetch() {
    local release=$1 package=$2 state=$out/jdk-apt/$1 mirror keys=/usr/share/keyrings/debian-archive-keyring.gpg
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
    [[ $mirror ]] || return 1
    [[ -e $keys ]] && keys=signed-by=$keys || keys=
    mkdir -p "$state/lists/partial" "$state/download"
    : >"$state/status"
    echo "deb-src [target=Sources $keys] $mirror $release main" >"$state/sources.list"
    cat >"$state/apt.conf" <<CONF
Dir::State "$state";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state";
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "/dev/null";
#clear APT::Update;
APT::Update::Error-Mode "any";
CONF
    jdk_apt -c "$state/apt.conf" update &&
        (cd "$state/download" && jdk_apt -c "$state/apt.conf" source --download-only --tar-only "$package") || return 1
    rm -rf "$tests.new"
    mkdir -p "$tests.new"
    tar -xf "$state/download/$package"_*.orig.tar.xz -C "$tests.new" --strip-components=1 --wildcards \
        '*/test/jdk/java/nio/channels/*' '*/test/lib/*' &&
        echo "$package of $release" >"$tests.new/version" &&
        mv "$tests.new" "$tests" && rm -rf "$out/jdk-apt"
}

# The tests of the newest JDK that the mirror has.
jdk_tests() {
    [[ ! -s $tests/version ]] || return 0
    jdk_apt update || true
    jdk_fetch trixie openjdk-25 || jdk_fetch bookworm openjdk-17 || jdk_failed "apt has no source package of a JDK"
}

jdk() {
    local tests=$out/jdk-tests status=0 sockets cases=() case channels=java/nio/channels java_options
    : >"$out/jdk-apt.log"
    jdk_runner || return
    jdk_tests || return
    cp "$here/jdk/TEST.ROOT" "$tests/test/jdk/TEST.ROOT"
    # Some tests have a plain socket at one end.
    sockets=$(channel_sockets)
    left_out_of_jdk | sed "s|.*|$channels/& generic-all|" >"$out/jdk-left-out"
    if [[ $short ]]; then
        for case in Selector/{KeySets,BasicConnect,SelectAfterRead} SocketChannel/{Basic,Shutdown} ServerSocketChannel/Basic; do
            cases+=("$channels/$case.java")
        done
    else
        for case in SocketChannel ServerSocketChannel Selector SelectionKey vthread AsyncCloseAndInterrupt.java \
            etc/AdaptorCloseAndInterrupt.java; do
            [[ ! -e $tests/test/jdk/$channels/$case ]] || cases+=("$channels/$case")
        done
    fi
    java_options="-Xmx512m -XX:+UseSerialGC -Dvm.flagless=false -Dvm.graal.enabled=false -Dvm.continuations=true"
    java_options+=" ${over_rdma[*]} -javaagent:$sockets"
    (cd "$tests/test/jdk" && timeout 3000 jtreg "-jdk:$JAVA_HOME" -othervm -conc:2 -verbose:summary,fail,error -ignore:quiet \
        "-exclude:$out/jdk-left-out" "-w:$out/jdk-work" "-r:$out/jdk-report-html" \
        "-javaoptions:$java_options" "${cases[@]}") >"$out/jdk.log" 2>&1 || status=1
    sed -n "s/^\(FAILED\|Error\): *\(java.*\)/[ERROR] foreign: jdk: \2 failed; see ${out//\//\\/}\/jdk.log/p" "$out/jdk.log"
    sed -n "s/^Test results: \(.*\)/foreign: jdk: tests of $(<"$tests/version"): \1/p" "$out/jdk.log"
    # None were found if none are told.
    grep -qE '^Test results: passed: [1-9]' "$out/jdk.log" || status=1
    return $status
}
