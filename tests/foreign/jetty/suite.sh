# shellcheck shell=bash
# HTTP and HTTPS between the servers and clients of Jetty and the JDK, each with each.

jetty() {
    local path keys=$out/jetty-keys.p12 mebibytes=64 status=0
    [[ ! $short ]] || mebibytes=4
    path=$(classpath jetty)
    rm -f "$keys"
    "$JAVA_HOME/bin/keytool" -genkeypair -alias test -keyalg EC -dname CN=localhost -ext san=ip:127.0.0.1 -validity 2 \
        -keystore "$keys" -storetype PKCS12 -storepass changeit >"$out/jetty.log" 2>&1
    timeout 600 "${java[@]}" -cp "$path" "$here/jetty/Requests.java" "$keys" "$mebibytes" >>"$out/jetty.log" 2>&1 || status=1
    sed -n 's/^HTTPS\{0,1\} server of .* requests successful$/foreign: jetty: &/p' "$out/jetty.log"
    ((status == 0)) || echo "[ERROR] foreign: jetty: failed; see $out/jetty.log"
    return $status
}
