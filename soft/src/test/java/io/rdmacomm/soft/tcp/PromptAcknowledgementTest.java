package io.rdmacomm.soft.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;

class PromptAcknowledgementTest {
    @Test
    void anAnswerDoesNotDelayTheAcknowledgements() throws Exception {
        try (ServerSocketChannel server =
                        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                SocketChannel sender = SocketChannel.open(server.getLocalAddress());
                SocketChannel receiver = server.accept()) {
            PromptAcknowledgement prompt = new PromptAcknowledgement(receiver);
            for (int i = 0; i < 3; i++) {
                sender.write(ByteBuffer.allocate(100));
                receiver.read(ByteBuffer.allocate(100));
                receiver.write(ByteBuffer.allocate(32));
                assertThat(receiver.getOption(ExtendedSocketOptions.TCP_QUICKACK))
                        .as("after an answer")
                        .isFalse();
                prompt.renew();
                assertThat(receiver.getOption(ExtendedSocketOptions.TCP_QUICKACK))
                        .as("renewed")
                        .isTrue();
            }
        }
    }
}
