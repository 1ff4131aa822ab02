package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class BellsTest {
    @Test
    void aControlFileWithoutRoomIsReportedOnce() throws Exception {
        Logger logger = Logger.getLogger(Bells.class.getName());
        List<String> said = new CopyOnWriteArrayList<>();
        logger.setFilter(entry -> !said.add(entry.getMessage()));
        try (ShmDirectory directory = ShmDirectory.claim()) {
            ControlFile file = ControlFile.create(directory, 1, 2);
            Bells bells = new Bells(file, () -> {});
            // Writing to it fails from now on, as in a full file system.
            file.close();

            for (int i = 0; i < 3; i++) {
                assertThat(bells.take()).isNull();
            }

            assertThat(said)
                    .filteredOn(each -> each.contains("no room for a bell"))
                    .hasSize(1);
        } finally {
            logger.setFilter(null);
        }
    }
}
