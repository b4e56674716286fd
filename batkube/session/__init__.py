"""The parts of a simulation, made as settings say and put together: server, simulator, scheduler, results."""
