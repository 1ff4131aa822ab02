package io.rdmacomm.compare;

import java.util.List;

/// A task that rdmacomm and its peers perform in turn.
///
/// @param id its name on the command line
/// @param title for people
/// @param unit of the figures
/// @param ours rdmacomm
/// @param peers the others
record Scenario(String id, String title, Unit unit, Contestant ours, List<Contestant> peers) {}
