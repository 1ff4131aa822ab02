package io.rdmacomm.tests.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Inputs that the fuzzer has found, and inputs that once showed a bug: one input in hexadecimal digits in each line of
/// `tests/fuzz/TARGET.txt`. [FuzzMain] looks for more.
class FuzzCorpusTest {
    private interface Target {
        void take(byte[] input) throws IOException, InterruptedException;
    }

    @Test
    void frames() throws Exception {
        replay("FrameTarget", FrameTarget::fuzzerTestOneInput);
    }

    @Test
    void packets() throws Exception {
        replay("PacketTarget", PacketTarget::fuzzerTestOneInput);
    }

    @Test
    void managementDatagrams() throws Exception {
        replay("ManagementTarget", ManagementTarget::fuzzerTestOneInput);
    }

    @Test
    void setUps() throws Exception {
        replay("SetupTarget", SetupTarget::fuzzerTestOneInput);
    }

    @Test
    void sessions() throws Exception {
        replay("SessionTarget", SessionTarget::fuzzerTestOneInput);
    }

    @Test
    void greetings() throws Exception {
        replay("GreetingTarget", GreetingTarget::fuzzerTestOneInput);
    }

    @Test
    void rendezvous() throws Exception {
        replay("RendezvousTarget", RendezvousTarget::fuzzerTestOneInput);
    }

    private static void replay(String name, Target target) throws IOException, InterruptedException {
        List<byte[]> inputs = new Corpus(name).inputs();
        assertThat(inputs).isNotEmpty();
        for (byte[] input : inputs) {
            try {
                target.take(input);
            } catch (IOException | RuntimeException | AssertionError e) {
                throw new AssertionError(name + ": " + HexFormat.of().formatHex(input), e);
            }
        }
    }
}
