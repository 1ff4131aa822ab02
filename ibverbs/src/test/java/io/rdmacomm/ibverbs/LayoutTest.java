package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// Java's numbers, compared with the headers installed here; `lab/abi` compares them with those of other releases.
class LayoutTest {
    @Test
    void agreesWithTheInstalledHeaders() throws ReflectiveOperationException, IOException {
        StringBuilder source = new StringBuilder(Layouts.INCLUDES + "int main(void)\n{\n");
        Layouts.expressions()
                .forEach((name, expression) ->
                        source.append("    printf(\"%s %%ld\\n\", (long) (%s));%n".formatted(name, expression)));
        source.append("    return 0;\n}\n");

        Map<String, Integer> inC = new TreeMap<>();
        CCompiler.output(CCompiler.compile("layouts", source.toString()))
                .lines()
                .map(line -> line.split(" "))
                .forEach(pair -> inC.put(pair[0], Integer.valueOf(pair[1])));
        assertThat(Layouts.inJava()).isEqualTo(inC);
    }

    /// Java computes the layouts for aarch64 in a JVM that takes itself for one.
    @Test
    void agreesWithTheHeadersOnAarch64() {
        String source = CCompiler.java(Layouts.class, "-Dos.arch=aarch64");
        assertThat(source).contains("ContextLayout.ABI is 328", "LibCLayout.MUTEX_BYTES is 48");
        CCompiler.checkOnAarch64("layouts-aarch64", source);
    }
}
