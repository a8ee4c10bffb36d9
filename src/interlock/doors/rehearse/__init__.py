"""What a person's agents did in the past -> what the gate would have said to it; read from their own logs, and never sent anywhere."""
