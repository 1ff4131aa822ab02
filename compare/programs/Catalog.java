/// The programs by name. A name of Netty's echo has the event loops of each end, the connections and the bytes of a
/// message.
final class Catalog {
    private Catalog() {}

    static Loaded program(String name) {
        return switch (name) {
            case "selectors" -> new SelectorEcho();
            case "netty-2-16-100" -> new NettyEcho(2, 16, 100);
            case "netty-4-16-100" -> new NettyEcho(4, 16, 100);
            case "netty-8-64-100" -> new NettyEcho(8, 64, 100);
            case "netty-2-16-64k" -> new NettyEcho(2, 16, 1 << 16);
            case "stream-64k" -> new NettyStream(1 << 16);
            case "stream-1m" -> new NettyStream(1 << 20);
            case "undertow" -> new HttpTraffic(new UndertowServer());
            case "tomcat" -> new HttpTraffic(new TomcatServer());
            case "vertx" -> new HttpTraffic(new VertxServer());
            case "hazelcast" -> new HazelcastMap();
            case "kafka-produce" -> new KafkaRecords(false);
            case "kafka-consume" -> new KafkaRecords(true);
            case "spark" -> new SparkShuffle();
            default -> throw new IllegalArgumentException("unknown program '" + name + "'");
        };
    }
}
